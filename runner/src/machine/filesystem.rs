//! The file system that holds a directory: type, options, size class, device.

use std::fs;
use std::path::{Path, PathBuf};

use super::size_class::size_class;
use super::{ext4, text};
use crate::harness::sys;

/// Mount options whose values are paths that change with every container.
const PATHS: [&str; 4] = ["lowerdir", "upperdir", "workdir", "lowerdir+"];

/// One line of `/proc/self/mountinfo`.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    device: String,
    point: PathBuf,
    options: String,
    kind: String,
    source: PathBuf,
}

/// Facts about the file system of `dir`, as environment entries.
pub(crate) fn facts(root: &Path, dir: &Path) -> Vec<(&'static str, String)> {
    let Ok(dir) = fs::canonicalize(dir) else { return vec![] };
    let mounts = text(&root.join("proc/self/mountinfo")).unwrap_or_default();
    let Some(mount) = holding(&mounts, &dir) else { return vec![] };
    let block = root.join("sys/dev/block").join(&mount.device);
    let ext = mount.kind.starts_with("ext");
    let device = [root.join("dev/block").join(&mount.device), mount.source.clone()];
    let features = ext.then(|| device.iter().find_map(|path| ext4::features(path))).flatten();
    let mut facts = vec![("fs.type", mount.kind), ("fs.mount_options", mount.options)];
    let more = [
        ("fs.size_class", sys::file_system_bytes(&dir).map(size_class)),
        ("fs.device", device_model(&block)),
        ("fs.rotational", queue_fact(&block, "rotational")),
        ("fs.mkfs_features", features),
    ];
    facts.extend(more.into_iter().filter_map(|(key, value)| Some((key, value?))));
    facts
}

/// Type of the file system that holds `dir`.
pub fn file_system_type(dir: &Path) -> Option<String> {
    let dir = fs::canonicalize(dir).ok()?;
    let mounts = text(Path::new("/proc/self/mountinfo"))?;
    Some(holding(&mounts, &dir)?.kind)
}

/// The mount that holds `dir`: of those with the longest mount point, the last one mounted.
fn holding(mounts: &str, dir: &Path) -> Option<Mount> {
    let length = |m: &Mount| m.point.components().count();
    mounts.lines().filter_map(parse).filter(|m| dir.starts_with(&m.point)).max_by_key(length)
}

fn parse(line: &str) -> Option<Mount> {
    let (left, right) = line.split_once(" - ")?;
    let left: Vec<&str> = left.split(' ').collect();
    let [_, _, device, _, point, own, ..] = left[..] else { return None };
    let right: Vec<&str> = right.split(' ').collect();
    let [kind, source, rest @ ..] = &right[..] else { return None };
    let mut options: Vec<&str> = own.split(',').collect();
    for option in rest.first().copied().unwrap_or_default().split(',') {
        let name = option.split('=').next().unwrap_or(option);
        if !option.is_empty() && !PATHS.contains(&name) && !options.contains(&option) {
            options.push(option);
        }
    }
    Some(Mount {
        device: device.into(),
        point: unescape(point).into(),
        options: options.join(","),
        kind: (*kind).into(),
        source: unescape(source).into(),
    })
}

/// Octal escapes of the kernel: `\040` is a blank.
fn unescape(text: &str) -> String {
    let mut parts = text.split('\\');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                plain.push(char::from(byte));
                plain.push_str(&part[3..]);
            }
            None => {
                plain.push('\\');
                plain.push_str(part);
            }
        }
    }
    plain
}

/// The model of the disk, else its driver; a partition's is its disk's.
fn device_model(block: &Path) -> Option<String> {
    let disk = disk_of(block)?;
    let model = text(&disk.join("device/model"))
        .map(|model| model.split_whitespace().collect::<Vec<_>>().join(" "));
    let driver = || {
        let link = fs::read_link(disk.join("device/driver")).ok()?;
        Some(link.file_name()?.to_string_lossy().into_owned())
    };
    // A device without hardware (loop, ram, device mapper) is named by its kind.
    let kind = || {
        let name = disk.file_name()?.to_string_lossy().into_owned();
        Some(name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-').to_owned())
    };
    model.or_else(driver).or_else(kind)
}

fn queue_fact(block: &Path, name: &str) -> Option<String> {
    text(&disk_of(block)?.join("queue").join(name))
}

fn disk_of(block: &Path) -> Option<PathBuf> {
    let device = fs::canonicalize(block).ok()?;
    if device.join("partition").exists() {
        device.parent().map(Path::to_owned)
    } else {
        Some(device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
27 1 254:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,discard
30 25 0:27 / /mnt/my\\040disk rw,nosuid - tmpfs tmpfs rw,size=1k
31 25 0:28 / /mnt/over ro - overlay overlay rw,lowerdir=/a:/b,upperdir=/c,workdir=/d,xino=off
32 25 0:29 / /mnt/over rw - xfs /dev/nvme0n1 rw,noquota
";

    #[test]
    fn the_longest_and_then_the_last_mount_point_holds_a_directory() {
        let kind = |dir: &str| holding(MOUNTS, Path::new(dir)).map(|m| m.kind);
        assert_eq!(kind("/mnt").as_deref(), Some("ext4"));
        assert_eq!(kind("/mnt/my disk/deep").as_deref(), Some("tmpfs"));
        assert_eq!(kind("/mnt/over").as_deref(), Some("xfs"));
        assert_eq!(kind("/mnt/overlay").as_deref(), Some("ext4"));
    }

    #[test]
    fn mount_options_carry_no_path_of_a_container() {
        let line = MOUNTS.lines().nth(2).expect("the overlay");
        assert_eq!(parse(line).expect("a mount").options, "ro,rw,xino=off");
        assert_eq!(parse("nonsense"), None);
    }
}
