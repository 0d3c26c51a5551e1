//! One source, many who follow: each has a bounded buffer of its own.
//!
//! The source waits, within a bound, for those who are behind and still move, so that nobody
//! who reads loses anything. Whoever does not move is waited for once and then no longer: it
//! loses the oldest of what it was sent and is told how many, and slows nobody.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

/// Items that wait for one who follows.
pub(super) const BUFFER: usize = 512;
/// How long the source waits for those who are behind.
const PATIENCE: Duration = Duration::from_millis(100);

/// A source.
#[derive(Debug)]
pub(super) struct Feed<T> {
    inner: Arc<Inner<T>>,
}

#[derive(Debug)]
struct Inner<T> {
    state: Mutex<State<T>>,
}

#[derive(Debug)]
struct State<T> {
    followers: Vec<Arc<Buffer<T>>>,
    closed: bool,
    /// When the last one left; when the feed began, if none ever followed.
    empty_since: Instant,
}

#[derive(Debug)]
struct Buffer<T> {
    waiting: Mutex<Waiting<T>>,
    /// Something came, or the end.
    news: Notify,
    /// Something was taken.
    room: Notify,
}

#[derive(Debug)]
struct Waiting<T> {
    items: VecDeque<T>,
    lost: u64,
    closed: bool,
    /// It was waited for in vain, and is not waited for until it has caught up.
    stalled: bool,
}

/// What one who follows gets.
#[derive(Debug, PartialEq, Eq)]
pub enum Delivery<T> {
    /// The next item.
    Item(T),
    /// So many items that were here are gone.
    Lost(u64),
}

/// One who follows. Dropped, it no longer does.
#[derive(Debug)]
pub(super) struct Follower<T> {
    buffer: Arc<Buffer<T>>,
    feed: Arc<Inner<T>>,
}

impl<T> Clone for Feed<T> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}

impl<T> Default for Feed<T> {
    fn default() -> Self {
        let state = State { followers: Vec::new(), closed: false, empty_since: Instant::now() };
        Self { inner: Arc::new(Inner { state: Mutex::new(state) }) }
    }
}

impl<T> Inner<T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Buffer<T> {
    fn waiting(&self) -> MutexGuard<'_, Waiting<T>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ready when there is room for half a buffer.
    async fn caught_up(&self) {
        loop {
            let room = self.room.notified();
            {
                let waiting = self.waiting();
                if waiting.items.len() <= BUFFER / 2 || waiting.closed {
                    return;
                }
            }
            room.await;
        }
    }
}

impl<T: Clone> Feed<T> {
    /// Follows from now on. On a feed that is closed there is nothing to come.
    pub(super) fn follow(&self) -> Follower<T> {
        let mut state = self.inner.state();
        let waiting = Waiting { items: VecDeque::new(), lost: 0, closed: state.closed, stalled: false };
        let buffer = Arc::new(Buffer { waiting: Mutex::new(waiting), news: Notify::new(), room: Notify::new() });
        if !state.closed {
            state.followers.push(Arc::clone(&buffer));
        }
        Follower { buffer, feed: Arc::clone(&self.inner) }
    }

    /// How many follow.
    pub(super) fn followers(&self) -> usize {
        self.inner.state().followers.len()
    }

    /// Since when nobody follows; none when somebody does.
    pub(super) fn empty_since(&self) -> Option<Instant> {
        let state = self.inner.state();
        state.followers.is_empty().then_some(state.empty_since)
    }

    /// Hands an item to all who follow.
    pub(super) async fn publish(&self, item: T) {
        let followers = self.inner.state().followers.clone();
        let full = |buffer: &Arc<Buffer<T>>| {
            let waiting = buffer.waiting();
            waiting.items.len() >= BUFFER && !waiting.stalled
        };
        if followers.iter().any(full) {
            let deadline = Instant::now() + PATIENCE;
            for buffer in followers.iter().filter(|buffer| full(buffer)) {
                if timeout_at(deadline, buffer.caught_up()).await.is_err() {
                    buffer.waiting().stalled = true;
                }
            }
        }
        for buffer in &followers {
            let mut waiting = buffer.waiting();
            if waiting.items.len() >= BUFFER {
                waiting.items.pop_front();
                waiting.lost += 1;
            }
            waiting.items.push_back(item.clone());
            drop(waiting);
            buffer.news.notify_one();
        }
    }

    /// Nothing more will come: those who follow get what still waits, and then the end.
    pub(super) fn close(&self) {
        let followers = {
            let mut state = self.inner.state();
            state.closed = true;
            std::mem::take(&mut state.followers)
        };
        for buffer in followers {
            buffer.waiting().closed = true;
            buffer.news.notify_one();
        }
    }
}

impl<T> Follower<T> {
    /// The next delivery; none at the end. Nothing is lost when the future is dropped.
    pub(super) async fn next(&mut self) -> Option<Delivery<T>> {
        loop {
            match self.take() {
                Taken::Delivery(delivery) => return Some(delivery),
                Taken::End => return None,
                Taken::Nothing => self.buffer.news.notified().await,
            }
        }
    }

    /// What is there already.
    pub(super) fn ready(&mut self) -> Option<Delivery<T>> {
        match self.take() {
            Taken::Delivery(delivery) => Some(delivery),
            Taken::Nothing | Taken::End => None,
        }
    }

    fn take(&self) -> Taken<T> {
        let mut waiting = self.buffer.waiting();
        if waiting.lost > 0 {
            return Taken::Delivery(Delivery::Lost(std::mem::take(&mut waiting.lost)));
        }
        let Some(item) = waiting.items.pop_front() else {
            return if waiting.closed { Taken::End } else { Taken::Nothing };
        };
        if waiting.items.len() <= BUFFER / 2 {
            waiting.stalled = false;
            drop(waiting);
            self.buffer.room.notify_one();
        }
        Taken::Delivery(Delivery::Item(item))
    }
}

enum Taken<T> {
    Delivery(Delivery<T>),
    Nothing,
    End,
}

impl<T> Drop for Follower<T> {
    fn drop(&mut self) {
        self.buffer.waiting().closed = true;
        self.buffer.room.notify_one();
        let mut state = self.feed.state();
        let before = state.followers.len();
        state.followers.retain(|buffer| !Arc::ptr_eq(buffer, &self.buffer));
        if before > 0 && state.followers.is_empty() {
            state.empty_since = Instant::now();
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{BUFFER, Delivery, Feed};
    use std::time::Duration;
    use tokio::time::Instant;

    #[tokio::test]
    async fn who_reads_loses_nothing_and_who_does_not_is_told_how_much() {
        const ALL: usize = 20_000;
        let feed = Feed::default();
        let (mut reads, mut stalls) = (feed.follow(), feed.follow());
        let reading = tokio::spawn(async move {
            let mut read = Vec::new();
            while let Some(delivery) = reads.next().await {
                let Delivery::Item(item) = delivery else { unreachable!("lost something") };
                read.push(item);
            }
            read
        });
        let start = Instant::now();
        for n in 0..ALL {
            feed.publish(n).await;
        }
        feed.close();
        assert!(start.elapsed() < Duration::from_secs(5), "the one that stalls is waited for once");
        assert_eq!(reading.await.unwrap(), (0..ALL).collect::<Vec<_>>());
        assert_eq!(stalls.next().await, Some(Delivery::Lost((ALL - BUFFER) as u64)));
        for n in ALL - BUFFER..ALL {
            assert_eq!(stalls.next().await, Some(Delivery::Item(n)));
        }
        assert_eq!(stalls.next().await, None);
    }

    #[tokio::test]
    async fn nobody_follows_when_the_last_one_left() {
        let feed: Feed<u8> = Feed::default();
        let (one, two) = (feed.follow(), feed.follow());
        assert_eq!((feed.followers(), feed.empty_since()), (2, None));
        let before = Instant::now();
        drop(one);
        assert_eq!(feed.empty_since(), None);
        drop(two);
        assert!(feed.empty_since().unwrap() >= before);
        feed.close();
        assert_eq!(feed.follow().next().await, None);
    }
}
