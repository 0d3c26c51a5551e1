//! Files and folders that can't be taken away, as long as a value lives.

use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags};
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A file or folder that stays where it is: immutable, where the test may make it so, else in a folder that is read-only.
pub struct Unmovable(How);

enum How {
    /// Wherever a folder above it is moved to, this is it.
    Immutable(File),
    /// These folders had these modes.
    ReadOnly(Vec<(PathBuf, u32)>),
}

impl Unmovable {
    /// Keeps it where it is; none where neither way works, which is for root on a file system without attributes.
    pub fn at(place: &Path) -> Option<Self> {
        let file = File::open(place).unwrap();
        if change(&file, |flags| flags | IFlags::IMMUTABLE).is_ok() {
            return Some(Self(How::Immutable(file)));
        }
        let folders = [place.parent().unwrap(), place].into_iter().filter(|path| path.is_dir());
        let modes: Vec<(PathBuf, u32)> =
            folders.map(|path| (path.to_owned(), fs::metadata(path).unwrap().permissions().mode())).collect();
        for (folder, mode) in &modes {
            fs::set_permissions(folder, fs::Permissions::from_mode(mode & !0o222)).unwrap();
        }
        let made = Self(How::ReadOnly(modes));
        let probe = place.with_extension("probe");
        match fs::rename(place, &probe) {
            Ok(()) => {
                fs::rename(&probe, place).unwrap();
                None
            }
            Err(_) => Some(made),
        }
    }
}

fn change(file: &File, flags: impl FnOnce(IFlags) -> IFlags) -> rustix::io::Result<()> {
    ioctl_setflags(file, flags(ioctl_getflags(file)?))
}

impl Drop for Unmovable {
    fn drop(&mut self) {
        match &self.0 {
            How::Immutable(file) => change(file, |flags| flags - IFlags::IMMUTABLE).unwrap(),
            How::ReadOnly(modes) => {
                for (folder, mode) in modes.iter().rev() {
                    // One that was moved meanwhile is not there.
                    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(*mode));
                }
            }
        }
    }
}
