//! What is stored of a report, and which reports contradict what is stored.

mod contradictions;
mod rows;
mod storage;
