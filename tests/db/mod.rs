mod races;
