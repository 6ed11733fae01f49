//! Samples + machine + environment + revision → `wire::Report`.
