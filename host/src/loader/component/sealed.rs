//! Memory that is filled once and that nobody can change afterwards, reached as a file: what is
//! mapped from it need not be copied once more.

use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::AsRawFd;
use std::path::PathBuf;

/// Memory that is being filled.
#[derive(Debug)]
pub(super) struct Unsealed(File);

/// Memory that stays as it is.
#[derive(Debug)]
pub(super) struct Sealed(File);

impl Unsealed {
    /// Empty memory; an error where the system has none of the kind.
    #[cfg(target_os = "linux")]
    pub(super) fn new() -> Result<Self, Errno> {
        use rustix::fs::MemfdFlags;
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        Ok(Self(rustix::fs::memfd_create("sepia-driver", flags)?.into()))
    }

    /// Empty memory; an error where the system has none of the kind.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn new() -> Result<Self, Errno> {
        Err(Errno::NOSYS)
    }

    /// Ends the filling.
    #[cfg(target_os = "linux")]
    pub(super) fn seal(self) -> Result<Sealed, Errno> {
        use rustix::fs::SealFlags;
        let seals = SealFlags::SEAL | SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE;
        rustix::fs::fcntl_add_seals(&self.0, seals)?;
        Ok(Sealed(self.0))
    }

    /// Ends the filling.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn seal(self) -> Result<Sealed, Errno> {
        Err(Errno::NOSYS)
    }
}

impl Write for Unsealed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Sealed {
    /// Where this process can open it while this value lives.
    pub(super) fn place(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.0.as_raw_fd()).into()
    }

    /// A copy.
    pub(super) fn bytes(&self) -> io::Result<Vec<u8>> {
        let mut file = &self.0;
        file.rewind()?;
        let mut bytes = Vec::new();
        io::Read::read_to_end(&mut file, &mut bytes)?;
        Ok(bytes)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::Unsealed;
    use std::fs::{self, File};
    use std::io::Write;

    #[test]
    fn nobody_changes_what_is_sealed() {
        let mut memory = Unsealed::new().unwrap();
        memory.write_all(b"machine code").unwrap();
        let sealed = memory.seal().unwrap();
        let place = sealed.place();
        assert_eq!(fs::read(&place).unwrap(), b"machine code");
        for file in [File::options().write(true).open(&place), File::options().append(true).open(&place)] {
            assert!(file.and_then(|mut file| file.write_all(b"x")).is_err());
        }
        let writable = File::options().write(true).open(&place);
        assert!(writable.and_then(|file| file.set_len(3)).is_err());
        assert_eq!(sealed.bytes().unwrap(), b"machine code");
    }
}
