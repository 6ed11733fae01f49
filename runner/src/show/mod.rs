//! How figures and tables look in a terminal and in a mail.
pub mod figures;
pub mod text_table;
