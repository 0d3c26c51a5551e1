//! `sepia export`

use super::args::ExportArgs;
use super::controls::Guarded;
use super::exit::Failure;
use super::{markdown, output, setup};
use crate::loader::NativeCopy;
use crate::plane::{OpenSession, PlaneError, Revise};
use sepia_ir::{MessageNode, Session, StreamedSession};
use sepia_redaction::Redactor;
use serde::Serialize;
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const BUFFER: usize = 256 << 10;

pub(super) async fn run(args: ExportArgs) -> Result<(), Failure> {
    let plane = setup::plane()?;
    let session = plane.resolve(&args.session.id, args.session.agent.as_deref()).await?;
    let source = if args.native {
        Source::Native(plane.native(&session.id, session.agent.as_deref()).await?)
    } else if args.markdown {
        let live = plane.live_branch(&session.id, session.agent.as_deref()).await?;
        let redactor = (!args.verbatim).then(|| Box::new(Redactor::new()));
        Source::Markdown(Box::new(plane.open(&session.id, session.agent.as_deref()).await?), live, redactor)
    } else {
        let redaction = match (args.verbatim, args.structure) {
            (true, _) => None,
            (false, true) => Some(Box::new(Redactor::structure_only())),
            (false, false) => Some(Box::new(Redactor::new())),
        };
        Source::Ir(Box::new(plane.open(&session.id, session.agent.as_deref()).await?), redaction)
    };
    // Dropped before its time when a signal ends the command: what then looks like the end of
    // the session is none, and no file may be made of it.
    let given_up = Arc::new(AtomicBool::new(false));
    let wanted = Wanted(Arc::clone(&given_up));
    let written = tokio::task::spawn_blocking(move || match args.output {
        None => {
            let mut out = BufWriter::with_capacity(BUFFER, Guarded::new(io::stdout().lock(), output::is_terminal()));
            let notice = source.write(&mut out)?;
            out.flush().map_err(|e| Failure::output(&e))?;
            tell(notice);
            Ok(())
        }
        Some(path) => to_file(source, &path, &given_up),
    });
    let written = written.await;
    drop(wanted);
    written.map_err(|e| Failure::said(format!("the export ended unexpectedly: {e}")))?
}

/// What is written.
enum Source {
    /// The session, without what the redactor takes out.
    Ir(Box<OpenSession>, Option<Box<Redactor>>),
    /// The same as text, of these nodes alone.
    Markdown(Box<OpenSession>, HashSet<i64>, Option<Box<Redactor>>),
    Native(NativeCopy),
}

/// Takes out what is not to be shared.
struct Redacted<'a>(&'a mut Redactor);

impl Revise for Redacted<'_> {
    fn header(&mut self, header: &mut Session) {
        self.0.session(header);
    }

    fn nodes(&mut self, nodes: &mut [MessageNode]) {
        self.0.nodes(nodes);
    }
}

/// What is in the export that was made, and what is not, for whoever made it.
fn notice(redactor: Option<&Redactor>) -> Option<String> {
    match redactor {
        None => Some("verbatim: keys and passwords that are in the session are in the export too".to_owned()),
        Some(redactor) if redactor.is_structure_only() => {
            Some("only the structure of the session: no text of it".to_owned())
        }
        Some(redactor) if redactor.count() == 0 => None,
        Some(redactor) => Some(format!("taken out: {}; --verbatim keeps everything", redactor.summary())),
    }
}

/// Told when the export is where it was to be.
fn tell(notice: Option<String>) {
    if let Some(notice) = notice {
        let _gone = writeln!(io::stderr(), "{notice}");
    }
}

impl Source {
    fn write(self, out: &mut impl Write) -> Result<Option<String>, Failure> {
        match self {
            Self::Ir(session, mut redactor) => {
                let sink = |e: io::Error| Failure::output(&e);
                out.write_all(b"{\"session\":").map_err(sink)?;
                let mut broken = None;
                let serialize = |streamed: &StreamedSession<'_>| {
                    let mut out = Noting { out: &mut *out, broken: &mut broken };
                    streamed.serialize(&mut crate::jsonrpc::serializer(&mut out))
                };
                let written = match &mut redactor {
                    Some(redactor) => session.serialize_blocking(&mut Redacted(redactor), serialize),
                    None => session.serialize_blocking(&mut (), serialize),
                };
                if let Some(e) = broken {
                    return Err(Failure::output(&e));
                }
                written?;
                out.write_all(b"}\n").map_err(sink)?;
                Ok(notice(redactor.as_deref()))
            }
            Self::Markdown(session, live, mut redactor) => {
                let written = match &mut redactor {
                    Some(redactor) => as_markdown(out, *session, &live, &mut Redacted(redactor)),
                    None => as_markdown(out, *session, &live, &mut ()),
                };
                written?;
                Ok(notice(redactor.as_deref()))
            }
            Self::Native(mut copy) => {
                while let Some(chunk) = copy.chunks.blocking_recv() {
                    out.write_all(&chunk.map_err(PlaneError::from)?).map_err(|e| Failure::output(&e))?;
                }
                Ok(notice(None))
            }
        }
    }
}

fn as_markdown(
    out: &mut impl Write,
    session: OpenSession,
    live: &HashSet<i64>,
    revise: &mut impl Revise,
) -> Result<(), Failure> {
    let mut session = session.revised(revise);
    markdown::header(out, session.header()).map_err(|e| Failure::output(&e))?;
    while let Some(nodes) = session.next_blocking(revise)? {
        for node in nodes.iter().filter(|node| live.contains(&node.node_id)) {
            markdown::node(out, node).map_err(|e| Failure::output(&e))?;
        }
    }
    Ok(())
}

/// Keeps why the sink failed, which the serialiser would turn into text.
struct Noting<'a, W> {
    out: W,
    broken: &'a mut Option<io::Error>,
}

impl<W: Write> Write for Noting<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes).inspect_err(|e| *self.broken = Some(e.kind().into()))
    }

    // Text comes in many small pieces; the buffer below takes each in one step.
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes).inspect_err(|e| *self.broken = Some(e.kind().into()))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Says, when it is dropped, that the export is not waited for.
struct Wanted(Arc<AtomicBool>);

impl Drop for Wanted {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Writes beside, with mode 0600, and renames when it is whole: no half export is left behind.
/// A link is followed; what is no file, a pipe or a device, is written to as it is.
fn to_file(source: Source, path: &Path, given_up: &AtomicBool) -> Result<(), Failure> {
    let failed = |e: io::Error| Failure::said(format!("{} can't be written: {e}", path.display()));
    let unchanged = |failure| match failure {
        Failure::Said(message) => Failure::Said(format!("{message} ({} was not changed)", path.display())),
        Failure::OutputClosed => failed(io::ErrorKind::BrokenPipe.into()),
        other => other,
    };
    if let Ok(meta) = path.metadata() {
        if meta.is_dir() {
            return Err(Failure::said(format!("{} is a folder; name a file in it", path.display())));
        }
        if !meta.is_file() {
            let mut out = BufWriter::with_capacity(BUFFER, File::options().write(true).open(path).map_err(failed)?);
            let notice = source.write(&mut out).map_err(|failure| match failure {
                Failure::OutputClosed => failed(io::ErrorKind::BrokenPipe.into()),
                other => other,
            })?;
            out.flush().map_err(failed)?;
            tell(notice);
            return Ok(());
        }
    }
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = real.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    let mut out = BufWriter::with_capacity(BUFFER, file);
    let notice = source.write(&mut out).map_err(unchanged)?;
    let file = out.into_inner().map_err(|e| failed(e.into_error()))?;
    file.as_file().sync_all().map_err(failed)?;
    if given_up.load(Ordering::Acquire) {
        return Err(failed(io::ErrorKind::Interrupted.into()));
    }
    file.persist(&real).map_err(|e| failed(e.error))?;
    tell(notice);
    if output::is_terminal() {
        let _gone = writeln!(io::stderr(), "wrote {}", path.display());
    }
    Ok(())
}
