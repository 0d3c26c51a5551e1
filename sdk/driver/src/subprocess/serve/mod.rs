//! The program: `--manifest`, or requests from stdin answered on stdout, one after the other.
//!
//! What goes into the frames is in [`sepia_ir::driver_wire`].

mod methods;
mod reply;
mod request;

use super::services::Native;
use crate::host::Host;
use crate::session_read::SessionRead;
use methods::Failure;
use reply::Reply;
use request::{Line, Request};
use sepia_ir::{DriverError, driver_wire};
use std::any::Any;
use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

/// What `main` of a `sepia-driver-*` program returns: with `--manifest` among the arguments
/// prints the manifest and ends, else serves until stdin ends.
///
/// stdout belongs to the frames: a driver prints nothing itself.
pub fn serve<D: SessionRead>() -> ExitCode {
    let outcome = if std::env::args_os().skip(1).any(|argument| argument == "--manifest") {
        print_manifest::<D>(&mut io::stdout().lock())
    } else {
        let host = || Native::of(&D::manifest(), &|name| std::env::var_os(name)).map(Host::new);
        answer::<D>(&host, &mut io::stdin().lock(), &mut io::stdout().lock())
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("error: the connection broke: {e}");
            ExitCode::FAILURE
        }
    }
}

fn print_manifest<D: SessionRead>(output: &mut dyn Write) -> io::Result<()> {
    let mut line = methods::manifest::<D>()?;
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
    while let Some(line) = request::next(input)? {
        match line {
            Line::Request(request) => handle::<D>(host, &request, output)?,
            Line::Ignored => {}
            Line::Wrong { code, message } => {
                Reply::new(&mut *output, 0).fail(code, &message)?;
            }
        }
    }
    Ok(())
}

fn handle<D: SessionRead>(
    host: &dyn Fn() -> Result<Host, DriverError>,
    request: &Request,
    output: &mut dyn Write,
) -> io::Result<()> {
    let mut reply = Reply::new(output, request.id);
    // The state that a panic may leave half-done dies with the call: services and transcript
    // are of this request alone, and what it wrote is taken back.
    let outcome = catch_unwind(AssertUnwindSafe(|| methods::call::<D>(host, request, &mut reply)));
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
