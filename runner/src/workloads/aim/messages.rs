//! AIM's network jobs: blocks sent to the task itself over the loopback interface.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};

use super::{BLOCK, Desk};
use crate::harness::{Attempt, Fault, Ticks};

const MESSAGES: u32 = 100;

/// Both ends of a connection and of a pair of datagram sockets.
pub(super) struct Sockets {
    client: TcpStream,
    server: TcpStream,
    sender: UdpSocket,
    receiver: UdpSocket,
}

impl Sockets {
    /// Connects a task with itself.
    pub fn new() -> Attempt<Sockets> {
        let here = (Ipv4Addr::LOCALHOST, 0);
        let connect = || -> std::io::Result<Sockets> {
            let listener = TcpListener::bind(here)?;
            let client = TcpStream::connect(listener.local_addr()?)?;
            let (server, _) = listener.accept()?;
            client.set_nodelay(true)?;
            let (sender, receiver) = (UdpSocket::bind(here)?, UdpSocket::bind(here)?);
            sender.connect(receiver.local_addr()?)?;
            Ok(Sockets { client, server, sender, receiver })
        };
        connect().map_err(|e| Fault::io("connect", &e))
    }

    fn of(desk: &mut Desk) -> Attempt<(&mut Sockets, &mut [u8; BLOCK])> {
        let sockets = desk.messages.as_mut();
        let sockets = sockets.ok_or(Fault::wrong("connect", "this load sends no messages"))?;
        Ok((sockets, &mut desk.buffer))
    }
}

/// Blocks over a connection.
pub(super) fn tcp(desk: &mut Desk, ticks: &Ticks) -> Attempt<()> {
    let (sockets, buffer) = Sockets::of(desk)?;
    for _ in 0..MESSAGES {
        sockets.client.write_all(buffer).map_err(|e| Fault::io("send", &e))?;
        sockets.server.read_exact(buffer).map_err(|e| Fault::io("recv", &e))?;
        ticks.tick();
    }
    Ok(())
}

/// Blocks as datagrams, each received before the next is sent.
pub(super) fn udp(desk: &mut Desk, ticks: &Ticks) -> Attempt<()> {
    let (sockets, buffer) = Sockets::of(desk)?;
    for _ in 0..MESSAGES {
        sockets.sender.send(buffer).map_err(|e| Fault::io("send", &e))?;
        let received = sockets.receiver.recv(buffer).map_err(|e| Fault::io("recv", &e))?;
        if received != BLOCK {
            return Err(Fault::wrong("recv", format!("{received} bytes of a block")));
        }
        ticks.tick();
    }
    Ok(())
}
