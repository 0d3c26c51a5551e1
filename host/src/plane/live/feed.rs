//! One source, many who follow: each has a bounded buffer of its own.
//!
//! The source waits, within a bound, for those who are behind and still move, so that nobody
//! who reads loses anything. Whoever does not move is waited for once and then no longer: it
//! loses the oldest of what it was sent and is told how many, and slows nobody.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

/// Items that wait for one who follows.
pub(super) const BUFFER: usize = 512;
/// What they take in memory at most, bytes; one alone may take more.
const BYTES: usize = 64 << 20;
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
    /// Each with what it takes in memory.
    items: VecDeque<(T, usize)>,
    bytes: usize,
    /// How many ever came.
    came: u64,
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
            let mut room = pin!(self.room.notified());
            // Listening comes before looking, so that nothing falls between.
            room.as_mut().enable();
            {
                let waiting = self.waiting();
                if waiting.has_room() || waiting.closed {
                    return;
                }
            }
            room.await;
        }
    }
}

impl<T> Waiting<T> {
    fn is_full(&self) -> bool {
        self.items.len() >= BUFFER || self.bytes >= BYTES
    }

    fn has_room(&self) -> bool {
        self.items.len() <= BUFFER / 2 && self.bytes <= BYTES / 2
    }

    fn pop(&mut self) -> Option<T> {
        let (item, bytes) = self.items.pop_front()?;
        self.bytes -= bytes;
        Some(item)
    }
}

impl<T: Clone> Feed<T> {
    /// Follows from now on. On a feed that is closed there is nothing to come.
    pub(super) fn follow(&self) -> Follower<T> {
        self.follow_looking(|| ()).0
    }

    /// The same, and what is seen at that moment: an item is either published before, or comes.
    pub(super) fn follow_looking<S>(&self, look: impl FnOnce() -> S) -> (Follower<T>, S) {
        let mut state = self.inner.state();
        let seen = look();
        let waiting =
            Waiting { items: VecDeque::new(), bytes: 0, came: 0, lost: 0, closed: state.closed, stalled: false };
        let buffer = Arc::new(Buffer { waiting: Mutex::new(waiting), news: Notify::new(), room: Notify::new() });
        if !state.closed {
            state.followers.push(Arc::clone(&buffer));
        }
        (Follower { buffer, feed: Arc::clone(&self.inner) }, seen)
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

    /// Hands an item, which takes so many bytes in memory, to all who follow.
    pub(super) async fn publish(&self, item: T, bytes: usize) {
        self.publish_noting(item, bytes, || ()).await;
    }

    /// The same; `note` is called at the moment from which on whoever begins to follow comes too
    /// late for the item.
    pub(super) async fn publish_noting(&self, item: T, bytes: usize, note: impl FnOnce()) {
        let followers = {
            let state = self.inner.state();
            note();
            state.followers.clone()
        };
        let full = |buffer: &Arc<Buffer<T>>| {
            let waiting = buffer.waiting();
            waiting.is_full() && !waiting.stalled
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
            while waiting.is_full() && waiting.pop().is_some() {
                waiting.lost += 1;
            }
            waiting.items.push_back((item.clone(), bytes));
            waiting.bytes += bytes;
            waiting.came += 1;
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

    /// What tells how far it is behind, also to others.
    pub(super) fn progress(&self) -> Progress
    where
        T: Send + Sync + 'static,
    {
        let buffer = Arc::clone(&self.buffer);
        Progress(Arc::new(move || {
            let waiting = buffer.waiting();
            (waiting.came, waiting.came - waiting.items.len() as u64)
        }))
    }

    fn take(&self) -> Taken<T> {
        let mut waiting = self.buffer.waiting();
        if waiting.lost > 0 {
            return Taken::Delivery(Delivery::Lost(std::mem::take(&mut waiting.lost)));
        }
        let Some(item) = waiting.pop() else {
            return if waiting.closed { Taken::End } else { Taken::Nothing };
        };
        if waiting.has_room() {
            waiting.stalled = false;
            drop(waiting);
            self.buffer.room.notify_waiters();
        }
        Taken::Delivery(Delivery::Item(item))
    }
}

/// How far one who follows is behind.
#[derive(Clone)]
pub struct Progress(Arc<dyn Fn() -> (u64, u64) + Send + Sync>);

impl Progress {
    /// How many items came so far.
    pub fn came(&self) -> u64 {
        (self.0)().0
    }

    /// How many of them were taken, or lost.
    pub fn taken(&self) -> u64 {
        (self.0)().1
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
        self.buffer.room.notify_waiters();
        let mut state = self.feed.state();
        let before = state.followers.len();
        state.followers.retain(|buffer| !Arc::ptr_eq(buffer, &self.buffer));
        if before > 0 && state.followers.is_empty() {
            state.empty_since = Instant::now();
        }
    }
}

impl std::fmt::Debug for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (came, taken) = (self.0)();
        f.debug_struct("Progress").field("came", &came).field("taken", &taken).finish()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{BUFFER, Delivery, Feed};
    use std::sync::atomic::{AtomicUsize, Ordering};
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
            feed.publish(n, 8).await;
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
    async fn an_item_was_noted_before_or_comes() {
        let feed = Feed::default();
        let noted = AtomicUsize::new(0);
        let publish = async {
            for n in 1..=2_000 {
                feed.publish_noting(n, 8, || noted.store(n, Ordering::Relaxed)).await;
                tokio::task::yield_now().await;
            }
        };
        let follow = async {
            for _ in 0..500 {
                let (mut follower, seen) = feed.follow_looking(|| noted.load(Ordering::Relaxed));
                if seen < 2_000 {
                    assert_eq!(follower.next().await, Some(Delivery::Item(seen + 1)));
                }
            }
        };
        tokio::join!(publish, follow);
    }

    #[tokio::test]
    async fn what_is_large_is_bounded_by_what_it_takes() {
        let feed = Feed::default();
        let mut stalls = feed.follow();
        for n in 0..10 {
            feed.publish(n, 30 << 20).await;
        }
        feed.close();
        assert_eq!(stalls.next().await, Some(Delivery::Lost(7)));
        for n in 7..10 {
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
