-- What the search reads: commits by their first digits on any branch, subjects by their words.
create index revision_by_commit on revision (commit_id collate "C");
create index revision_by_words on revision
    using gin (to_tsvector('simple', regexp_replace(subject, '[^[:alnum:]]+', ' ', 'g')));
