//! The program: `--manifest`, or requests from stdin answered on stdout, one after the other.
//!
//! What goes into the frames is in [`sepia_ir::driver_wire`].

mod methods;
mod reply;
mod request;
mod writing;

use super::services::Native;
use crate::host::Host;
use crate::session_read::SessionRead;
use crate::session_write::SessionWrite;
use methods::Failure;
use reply::Reply;
use request::{Line, Request};
use sepia_ir::{DriverError, driver_wire};
use sepia_services::TrashEntry;
use std::any::Any;
use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Arc;

/// What `main` of a `sepia-driver-*` program returns: with `--manifest` among the arguments
/// prints the manifest and ends, else serves until stdin ends.
///
/// stdout belongs to the frames: a driver prints nothing itself.
pub fn serve<D: SessionRead>() -> ExitCode {
    serve_with(methods::manifest::<D>, &|input, output| answer::<D>(&native::<D>, input, output))
}

/// The same for a driver that also writes.
pub fn serve_writing<D: SessionWrite>() -> ExitCode {
    let writing = |trash: Option<Arc<TrashEntry>>| {
        let manifest = D::manifest();
        Native::host_for_writing(|| Native::of(&manifest, &|name| std::env::var_os(name)), &manifest, trash)
    };
    serve_with(writing::manifest::<D>, &|input, output| answer_writing::<D>(&native::<D>, &writing, input, output))
}

fn native<D: SessionRead>() -> Result<Host, DriverError> {
    Native::of(&D::manifest(), &|name| std::env::var_os(name)).map(Host::new)
}

type Answer<'a> = &'a dyn Fn(&mut dyn BufRead, &mut dyn Write) -> io::Result<()>;

fn serve_with(manifest: fn() -> io::Result<Vec<u8>>, answer: Answer<'_>) -> ExitCode {
    let outcome = if std::env::args_os().skip(1).any(|argument| argument == "--manifest") {
        manifest().and_then(|line| print_line(line, &mut io::stdout().lock()))
    } else {
        answer(&mut io::stdin().lock(), &mut io::stdout().lock())
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("error: the connection broke: {e}");
            ExitCode::FAILURE
        }
    }
}

fn print_line(mut line: Vec<u8>, output: &mut dyn Write) -> io::Result<()> {
    line.push(b'\n');
    output.write_all(&line)?;
    output.flush()
}

/// Answers requests until `input` ends. Each request gets services of its own from `host`, so
/// that a store that comes or moves is seen. Fails only when `output` or `input` does.
pub fn answer<D: SessionRead>(
    host: &dyn Fn() -> Result<Host, DriverError>,
    input: &mut dyn BufRead,
    output: &mut dyn Write,
) -> io::Result<()> {
    each(input, output, &|request, reply| methods::call::<D>(host, request, reply))
}

/// The services of a request that writes, which puts what it takes away into the trash.
pub type Writing<'a> = &'a dyn Fn(Option<Arc<TrashEntry>>) -> Result<Host, DriverError>;

/// The same for a driver that also writes; requests that do get their services from `writing`.
pub fn answer_writing<D: SessionWrite>(
    host: &dyn Fn() -> Result<Host, DriverError>,
    writing: Writing<'_>,
    input: &mut dyn BufRead,
    output: &mut dyn Write,
) -> io::Result<()> {
    each(input, output, &|request, reply| writing::call::<D>(host, writing, request, reply))
}

type Call<'a> = &'a dyn Fn(&Request, &mut Reply<'_>) -> Result<(), Failure>;

fn each(input: &mut dyn BufRead, output: &mut dyn Write, call: Call<'_>) -> io::Result<()> {
    while let Some(line) = request::next(input)? {
        match line {
            Line::Request(request) => handle(call, &request, output)?,
            Line::Ignored => {}
            Line::Wrong { code, message } => {
                Reply::new(&mut *output, 0).fail(code, &message)?;
            }
        }
    }
    Ok(())
}

fn handle(call: Call<'_>, request: &Request, output: &mut dyn Write) -> io::Result<()> {
    let mut reply = Reply::new(output, request.id);
    // The state that a panic may leave half-done dies with the call: services and transcript
    // are of this request alone, and what it wrote is taken back.
    let outcome = catch_unwind(AssertUnwindSafe(|| call(request, &mut reply)));
    match outcome {
        Ok(Ok(())) => reply.finish(),
        Ok(Err(Failure::Connection(e))) => Err(e),
        Ok(Err(Failure::Answer { code, message })) => reply.fail(code, &message),
        Err(payload) => {
            let message = format!("the driver crashed in {}: {}", request.method, panic_text(&*payload));
            reply.fail(driver_wire::code::INTERNAL, &message)
        }
    }
}

fn panic_text(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no reason given")
}
