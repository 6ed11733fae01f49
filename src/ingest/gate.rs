//! How much is taken in at once. Beyond it an upload is told to come again, before its body is read:
//! memory stays bounded, and readers find a connection free.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, SemaphorePermit};

use crate::error::{Error, Result};

/// Seconds after which an upload that found no room may come again; runners add their own jitter.
const COME_AGAIN_S: u32 = 1;

/// Shared by all uploads of a process; cheap to clone.
#[derive(Debug, Clone)]
pub struct Gate {
    /// Room in `inside`.
    room: usize,
    /// Uploads that are read, wait or are stored.
    inside: Arc<Semaphore>,
    /// Rung when an upload leaves.
    left: Arc<Notify>,
    /// Transactions that store.
    storing: Arc<Semaphore>,
}

/// Room for one upload; given back when dropped.
#[derive(Debug)]
pub struct Admission {
    permit: Option<OwnedSemaphorePermit>,
    left: Arc<Notify>,
}

impl Drop for Admission {
    fn drop(&mut self) {
        self.permit.take();
        self.left.notify_waiters();
    }
}

impl Gate {
    /// For a pool of so many connections: a quarter of them is left to readers and the worker, and
    /// as many uploads as there are connections wait for the others.
    pub fn of(connections: u32) -> Gate {
        let connections = connections as usize;
        let storing = (connections * 3 / 4).max(1);
        let room = storing + connections;
        Gate {
            room,
            inside: Arc::new(Semaphore::new(room)),
            left: Arc::default(),
            storing: Arc::new(Semaphore::new(storing)),
        }
    }

    /// Lets an upload in.
    ///
    /// # Errors
    /// `Busy` when there is no room.
    pub fn admit(&self) -> Result<Admission> {
        let permit = Arc::clone(&self.inside).try_acquire_owned();
        let permit = permit.map_err(|_| Error::Busy { after_s: COME_AGAIN_S })?;
        Ok(Admission { permit: Some(permit), left: Arc::clone(&self.left) })
    }

    /// Waits for a moment without uploads, at most so long: what is due once they are stored is
    /// judged once instead of after each of them.
    pub async fn calm(&self, most: Duration) {
        let wait = async {
            loop {
                // Made before it is looked, so that no leaving between the two is missed.
                let left = self.left.notified();
                if self.inside.available_permits() == self.room {
                    return;
                }
                left.await;
            }
        };
        let _ = tokio::time::timeout(most, wait).await;
    }

    /// Waits for its turn to store, after those that came before.
    pub(super) async fn turn(&self) -> SemaphorePermit<'_> {
        self.storing.acquire().await.expect("this semaphore is never closed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_finds_no_room_is_told_when_to_come_again_and_room_comes_back() {
        let gate = Gate::of(4);
        let mut inside: Vec<Admission> = (0..7).map(|_| gate.admit().unwrap()).collect();
        assert!(matches!(gate.admit(), Err(Error::Busy { after_s: 1 })));
        inside.pop();
        assert!(gate.admit().is_ok());
    }

    #[tokio::test]
    async fn uploads_go_first_but_not_for_ever() {
        let gate = Gate::of(4);
        gate.calm(Duration::MAX).await;
        let upload = gate.admit().unwrap();
        gate.calm(Duration::from_millis(1)).await;
        let leave = async { drop(upload) };
        tokio::join!(gate.calm(Duration::MAX), leave);
    }
}
