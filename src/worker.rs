//! Drives detect, alert and mail; tests step it.
