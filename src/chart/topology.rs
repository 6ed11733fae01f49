//! A machine's topology: a box a socket, in it a box a NUMA node, in it its cores, each with a dot a
//! thread. Only counts are known, so they are drawn as evenly as they divide.

use plotters::backend::DrawingBackend;
use plotters::style::RGBColor;

use super::frame::LINE_PX;
use super::palette::{self, INK, MUTED, RULE};
use super::pen::{Align, Pen, fit};
use super::{Size, TopologyPlot};
use crate::format;

/// Threads drawn at most; dots of more could not be told apart.
const MOST_THREADS: u32 = 1024;
/// NUMA nodes beside each other.
const MOST_ABREAST: u32 = 4;
/// From core to core, CSS pixels.
const CORE_PX: f64 = 14.0;
const PAD_PX: f64 = 8.0;

impl TopologyPlot {
    /// Whether the counts divide into a picture: each socket has as many nodes, each node as many
    /// cores, each core as many threads, and not too many to see.
    pub fn is_drawable(&self) -> bool {
        let TopologyPlot { sockets, nodes, cores, threads } = *self;
        let divides =
            |whole: u32, parts: u32| parts > 0 && whole >= parts && whole.is_multiple_of(parts);
        let divided = divides(nodes, sockets) && divides(cores, nodes) && divides(threads, cores);
        divided && threads <= MOST_THREADS && threads / cores <= 4
    }

    /// E.g. `2 sockets, each with 2 NUMA nodes of 24 cores, 2 threads a core.`
    pub fn sentence(&self) -> String {
        let TopologyPlot { sockets, nodes, cores, threads } = *self;
        let count = |n: u32, noun| format::count(n as usize, noun);
        format!(
            "{}, each with {} of {}, {} a core.",
            count(sockets, "socket"),
            count(nodes / sockets.max(1), "NUMA node"),
            count(cores / nodes.max(1), "core"),
            count(threads / cores.max(1), "thread")
        )
    }
}

/// Where everything stands.
struct Places {
    abreast: u32,
    node_width: f64,
    node_height: f64,
    columns: u32,
    socket_height: f64,
}

fn places(plot: &TopologyPlot, width: u32) -> Places {
    let per_socket = plot.nodes / plot.sockets;
    let abreast = per_socket.min(MOST_ABREAST);
    let gaps = f64::from(abreast + 1) * PAD_PX;
    let node_width = (f64::from(width) - 2.0 - gaps) / f64::from(abreast);
    let cores = plot.cores / plot.nodes;
    let columns = (((node_width - 2.0 * PAD_PX) / CORE_PX).floor() as u32).clamp(1, cores);
    let node_height = LINE_PX + f64::from(cores.div_ceil(columns)) * CORE_PX + PAD_PX;
    let rows = f64::from(per_socket.div_ceil(abreast));
    let socket_height = LINE_PX + 4.0 + rows * (node_height + PAD_PX);
    Places { abreast, node_width, node_height, columns, socket_height }
}

/// As high as its sockets need.
pub(super) fn size(plot: &TopologyPlot, width: u32) -> Size {
    let each = places(plot, width).socket_height + PAD_PX;
    Size { width, height: (f64::from(plot.sockets) * each).ceil() as u32 }
}

/// Draws the plot.
pub(super) fn draw<DB: DrawingBackend>(pen: &mut Pen<'_, DB>, plot: &TopologyPlot, size: Size) {
    let at = places(plot, size.width);
    let per_socket = plot.nodes / plot.sockets;
    let cores = plot.cores / plot.nodes;
    let width = f64::from(size.width) - 2.0;
    for socket in 0..plot.sockets {
        let top = f64::from(socket) * (at.socket_height + PAD_PX) + 1.0;
        outline(pen, (1.0, top), (width, at.socket_height), MUTED);
        let name = format!("socket {socket}");
        pen.text(&name, (PAD_PX, top + LINE_PX / 2.0 + 2.0), Align::Left, INK);
        for node in 0..per_socket {
            let (column, row) = (f64::from(node % at.abreast), f64::from(node / at.abreast));
            let left = 1.0 + PAD_PX + column * (at.node_width + PAD_PX);
            let upper = top + LINE_PX + 4.0 + row * (at.node_height + PAD_PX);
            outline(pen, (left, upper), (at.node_width, at.node_height), RULE);
            let name = format!("node {}, {cores} cores", socket * per_socket + node);
            let name = if cores == 1 { name.replace("cores", "core") } else { name };
            let name = fit(&name, at.node_width - 2.0 * PAD_PX);
            pen.text(&name, (left + PAD_PX, upper + LINE_PX / 2.0 + 1.0), Align::Left, MUTED);
            for core in 0..cores {
                let (x, y) = (f64::from(core % at.columns), f64::from(core / at.columns));
                let middle =
                    (left + PAD_PX + (x + 0.5) * CORE_PX, upper + LINE_PX + (y + 0.5) * CORE_PX);
                dots(pen, middle, plot.threads / plot.cores);
            }
        }
    }
}

/// The threads of a core.
fn dots<DB: DrawingBackend>(pen: &mut Pen<'_, DB>, (x, y): (f64, f64), threads: u32) {
    let colour = palette::series(0);
    if threads == 1 {
        return pen.disc((x, y), 4.0, colour, 1.0);
    }
    for thread in 0..threads {
        let (across, down) = (f64::from(thread % 2), f64::from(thread / 2));
        let lift = if threads > 2 { 2.5 } else { 0.0 };
        let at = (x + 5.0 * across - 2.5, y + 5.0 * down - lift);
        pen.disc(at, 2.25, colour, 1.0);
    }
}

fn outline<DB: DrawingBackend>(
    pen: &mut Pen<'_, DB>,
    (x, y): (f64, f64),
    (width, height): (f64, f64),
    colour: RGBColor,
) {
    let corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height), (x, y)];
    pen.line(&corners, colour, 1.0);
}
