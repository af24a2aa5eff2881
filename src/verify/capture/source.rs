//! Random access to the bytes of a file or of memory, so that arrays of any size are compared in pieces.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Bytes that can be read at any place, by many threads at once.
///
/// Files are read by `pread` into each thread's own buffer instead of being mapped: a file that shrinks is then an
/// error, not a signal that kills the judge.
#[derive(Debug)]
pub struct Source {
    bytes: Bytes,
    /// Where the bytes begin.
    offset: u64,
    len: u64,
}

#[derive(Debug)]
enum Bytes {
    Memory(Vec<u8>),
    File(File),
}

impl Source {
    /// All of a file, as long as it is now.
    pub fn from_file(file: File) -> io::Result<Self> {
        let len = file.metadata()?.len();
        Ok(Self { bytes: Bytes::File(file), offset: 0, len })
    }

    /// Bytes in memory.
    pub fn from_memory(bytes: Vec<u8>) -> Self {
        let len = bytes.len() as u64;
        Self { bytes: Bytes::Memory(bytes), offset: 0, len }
    }

    /// The number of bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The same without its first `count` bytes, or as many as there are.
    #[must_use]
    pub fn skip(mut self, count: u64) -> Self {
        let count = count.min(self.len);
        self.offset += count;
        self.len -= count;
        self
    }

    /// Fills `buffer` from `position` on. Reading beyond the end is an error.
    pub fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<()> {
        let end = position.checked_add(buffer.len() as u64);
        if end.is_none_or(|end| end > self.len) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let start = self.offset + position;
        match &self.bytes {
            Bytes::File(file) => file.read_exact_at(buffer, start),
            Bytes::Memory(bytes) => {
                let start = usize::try_from(start).map_err(|_| io::ErrorKind::UnexpectedEof)?;
                buffer.copy_from_slice(&bytes[start..start + buffer.len()]);
                Ok(())
            }
        }
    }

    /// Whether two sources hold the same bytes.
    pub fn same(&self, other: &Self) -> io::Result<bool> {
        const PIECE: u64 = 128 << 10;
        if self.len != other.len {
            return Ok(false);
        }
        let (mut a, mut b) = (vec![0; PIECE as usize], vec![0; PIECE as usize]);
        let mut position = 0;
        while position < self.len {
            let length = (self.len - position).min(PIECE) as usize;
            self.read_at(&mut a[..length], position)?;
            other.read_at(&mut b[..length], position)?;
            if a[..length] != b[..length] {
                return Ok(false);
            }
            position += length as u64;
        }
        Ok(true)
    }

    /// All bytes, if there are at most `limit`.
    pub fn read_all(&self, limit: u64) -> io::Result<Vec<u8>> {
        if self.len > limit {
            return Err(io::Error::other(format!("{} bytes are too many to be read at once", self.len)));
        }
        let mut buffer = vec![0; usize::try_from(self.len).map_err(io::Error::other)?];
        self.read_at(&mut buffer, 0)?;
        Ok(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_bounded_by_the_source() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        std::fs::write(&path, b"0123456789").unwrap();
        let file = Source::from_file(File::open(&path).unwrap()).unwrap();
        for source in [file.skip(2), Source::from_memory(b"0123456789".to_vec()).skip(2)] {
            assert_eq!(source.len(), 8);
            let mut buffer = [0; 3];
            source.read_at(&mut buffer, 5).unwrap();
            assert_eq!(&buffer, b"789");
            assert!(source.read_at(&mut buffer, 6).is_err());
            assert!(source.read_at(&mut buffer, u64::MAX).is_err());
            assert_eq!(source.read_all(8).unwrap(), b"23456789");
            assert!(source.read_all(7).is_err());
        }
    }
}
