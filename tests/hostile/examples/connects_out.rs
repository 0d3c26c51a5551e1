//! Connects to an address that it is told.

use sepia_hostile::{Guest, Misdeed};
use sepia_ir::{DriverError, Session};
use sepia_sdk::Host;
use std::net::{TcpListener, TcpStream, UdpSocket};

struct Bad;

impl Misdeed for Bad {
    /// The order is the address.
    fn summary_of(_host: &Host, order: &str) -> Result<Session, DriverError> {
        let tcp = TcpStream::connect(order).map(|_| ()).map_err(|e| e.kind());
        let listen = TcpListener::bind("127.0.0.1:0").map(|_| ()).map_err(|e| e.kind());
        let udp = UdpSocket::bind("127.0.0.1:0").and_then(|s| s.send_to(b"x", order)).map(|_| ()).map_err(|e| e.kind());
        let name = TcpStream::connect("localhost:1").map(|_| ()).map_err(|e| e.kind());
        Ok(sepia_hostile::answer(format!("{tcp:?} {listen:?} {udp:?} {name:?}")))
    }
}

sepia_sdk::export_driver!(Guest<Bad>);
