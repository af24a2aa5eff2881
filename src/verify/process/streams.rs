//! What a child writes while it runs: capped streams into the judge's files, and marks with the judge's time on them.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::source::hex;
use crate::verify::protocol::Mark;

/// Bytes read at a time: a pipe's usual capacity.
const CHUNK: usize = 64 * 1024;
/// The longest line on the pipe for marks; longer ones are no marks.
const MARK_LIMIT: usize = 64;
/// The most marks that are kept.
const MARKS_LIMIT: usize = 100_000;

/// A child's stream, read to its end, kept up to a cap.
#[derive(Debug)]
pub(super) struct Sink {
    pipe: File,
    file: File,
    cap: u64,
    bytes: u64,
    digest: Sha256,
    /// No more will come.
    pub(super) ended: bool,
}

/// What became of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::verify) struct StreamReport {
    /// All bytes that came.
    pub(in crate::verify) bytes: u64,
    /// All of them are in the file.
    pub(in crate::verify) complete: bool,
    /// SHA-256 of all of them.
    pub(in crate::verify) sha256: String,
}

impl Sink {
    /// Reads from `pipe`, which must not block, into a new file at `path`, at most `cap` bytes.
    pub(super) fn new(pipe: File, path: &Path, cap: u64) -> io::Result<Self> {
        Ok(Self { pipe, file: File::create(path)?, cap, bytes: 0, digest: Sha256::new(), ended: false })
    }

    /// The pipe, to wait on.
    pub(super) fn pipe(&self) -> &File {
        &self.pipe
    }

    /// Takes one chunk. False where there is nothing to take now.
    pub(super) fn take(&mut self) -> io::Result<bool> {
        let mut chunk = vec![0; CHUNK];
        let Some(count) = read_some(&mut self.pipe, &mut chunk, &mut self.ended)? else { return Ok(false) };
        let taken = &chunk[..count];
        let room = usize::try_from(self.cap.saturating_sub(self.bytes)).unwrap_or(usize::MAX);
        self.file.write_all(&taken[..count.min(room)])?;
        self.digest.update(taken);
        self.bytes += count as u64;
        Ok(true)
    }

    /// Takes what is there, at most `limit` bytes more, and closes.
    pub(super) fn finish(mut self, limit: u64) -> io::Result<StreamReport> {
        let stop = self.bytes.saturating_add(limit);
        while self.bytes < stop && self.take()? {}
        self.file.flush()?;
        Ok(StreamReport {
            bytes: self.bytes,
            complete: self.bytes <= self.cap,
            sha256: hex(&self.digest.finalize()),
        })
    }
}

/// The pipe for marks.
#[derive(Debug)]
pub(super) struct MarkReader {
    pipe: File,
    line: Vec<u8>,
    marks: Vec<(Mark, Duration)>,
    /// No more will come.
    pub(super) ended: bool,
}

impl MarkReader {
    /// Reads from `pipe`, which must not block.
    pub(super) fn new(pipe: File) -> Self {
        Self { pipe, line: Vec::new(), marks: Vec::new(), ended: false }
    }

    /// The pipe, to wait on.
    pub(super) fn pipe(&self) -> &File {
        &self.pipe
    }

    /// Takes one chunk; whole lines in it get the time `now`. False where there is nothing to take now.
    pub(super) fn take(&mut self, now: Duration) -> io::Result<bool> {
        let mut chunk = [0; 512];
        let Some(count) = read_some(&mut self.pipe, &mut chunk, &mut self.ended)? else { return Ok(false) };
        for byte in &chunk[..count] {
            if *byte == b'\n' {
                self.close_line(now);
            } else if self.line.len() < MARK_LIMIT {
                self.line.push(*byte);
            }
        }
        Ok(true)
    }

    fn close_line(&mut self, now: Duration) {
        let line = std::mem::take(&mut self.line);
        let mark = std::str::from_utf8(&line).ok().and_then(Mark::parse);
        if let Some(mark) = mark
            && self.marks.len() < MARKS_LIMIT
        {
            self.marks.push((mark, now));
        }
    }

    /// The marks in the order they came.
    pub(super) fn finish(mut self, now: Duration) -> io::Result<Vec<(Mark, Duration)>> {
        while self.marks.len() < MARKS_LIMIT && self.take(now)? {}
        Ok(self.marks)
    }
}

/// Reads what is there. `None`: nothing now, or nothing ever again, which `ended` then says.
fn read_some(pipe: &mut File, chunk: &mut [u8], ended: &mut bool) -> io::Result<Option<usize>> {
    if *ended {
        return Ok(None);
    }
    loop {
        match pipe.read(chunk) {
            Ok(0) => {
                *ended = true;
                return Ok(None);
            }
            Ok(count) => return Ok(Some(count)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::pipes::nonblocking_pipe;
    use super::*;

    #[test]
    fn a_stream_is_kept_up_to_its_cap_and_counted_whole() {
        let folder = tempfile::tempdir().unwrap();
        let (reader, writer) = nonblocking_pipe().unwrap();
        let path = folder.path().join("stdout");
        let mut sink = Sink::new(File::from(reader), &path, 4).unwrap();
        File::from(writer).write_all(b"abcdefgh").unwrap();
        assert!(sink.take().unwrap());
        assert!(!sink.take().unwrap());
        assert!(sink.ended);
        let report = sink.finish(0).unwrap();
        assert_eq!((report.bytes, report.complete), (8, false));
        assert_eq!(report.sha256, hex(&Sha256::digest(b"abcdefgh")));
        assert_eq!(std::fs::read(path).unwrap(), b"abcd");
    }

    #[test]
    fn marks_are_stamped_when_their_line_ends_and_noise_is_skipped() {
        let (reader, writer) = nonblocking_pipe().unwrap();
        let mut writer = File::from(writer);
        let mut marks = MarkReader::new(File::from(reader));
        writer.write_all(b"program-begin\nrubbish\n\xff\nprogram-").unwrap();
        assert!(marks.take(Duration::from_secs(1)).unwrap());
        writer.write_all(b"end\n").unwrap();
        writer.write_all(&[b'x'; 300]).unwrap();
        drop(writer);
        assert_eq!(
            marks.finish(Duration::from_secs(2)).unwrap(),
            [(Mark::ProgramBegin, Duration::from_secs(1)), (Mark::ProgramEnd, Duration::from_secs(2))]
        );
    }
}
