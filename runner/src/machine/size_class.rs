//! Sizes rounded to what is sold, so that what firmware or metadata keeps back changes nothing.

/// `bytes` rounded up to an eighth of the next power of two, as `48 GiB` or `512 MiB`.
pub(crate) fn size_class(bytes: u64) -> String {
    let (unit, name) = match bytes {
        0..0x4000_0000 => (1u64 << 20, "MiB"),
        0x4000_0000..0x100_0000_0000 => (1 << 30, "GiB"),
        _ => (1 << 40, "TiB"),
    };
    let step = (bytes.max(1).next_power_of_two() / 8).max(1);
    let rounded = bytes.div_ceil(step).saturating_mul(step);
    let tenths = (rounded as f64 / unit as f64 * 10.0).round() / 10.0;
    format!("{tenths} {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_keeps_back_does_not_show() {
        let kib = |n: u64| size_class(n << 10);
        assert_eq!(kib(49_368_192), "48 GiB");
        assert_eq!(kib(16_262_144), "16 GiB");
        assert_eq!(kib(98_720_000), "96 GiB");
        assert_eq!(kib(2_014_208), "2 GiB");
        assert_eq!(kib(394_000_000), "384 GiB");
        assert_eq!(kib(500_000), "512 MiB");
        assert_eq!(size_class(1 << 40), "1 TiB");
        assert_eq!(size_class(0), "0 MiB");
    }
}
