//! A heap of events.

use super::Entry;

const ARITY: usize = 4;

/// Events, earliest first.
#[derive(Clone, Debug)]
pub(super) struct Heap<E> {
    pub(super) entries: Vec<Entry<E>>,
    /// Whether the root was popped and has not been replaced yet. If the next operation is a push,
    /// which is the usual case, one sift is enough instead of two.
    vacant_root: bool,
}

impl<E: Copy> Heap<E> {
    pub(super) const fn new() -> Self {
        Self { entries: Vec::new(), vacant_root: false }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len() - usize::from(self.vacant_root)
    }

    #[inline]
    pub(super) fn push(&mut self, entry: Entry<E>) {
        if self.vacant_root {
            self.vacant_root = false;
            self.sift_down(entry);
        } else {
            self.entries.push(entry);
            self.sift_up(entry);
        }
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<Entry<E>> {
        self.fill_root();
        let first = *self.entries.first()?;
        self.vacant_root = true;
        Some(first)
    }

    /// The earliest entry.
    pub(super) fn first(&mut self) -> Option<&Entry<E>> {
        self.fill_root();
        self.entries.first()
    }

    /// Removes the earliest entry if `condition` is true for it.
    pub(super) fn pop_if(&mut self, condition: impl FnOnce(&Entry<E>) -> bool) -> Option<Entry<E>> {
        if condition(self.first()?) { self.pop() } else { None }
    }

    /// Resets an empty heap with a vacant root.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.vacant_root = false;
    }

    #[inline]
    fn fill_root(&mut self) {
        if self.vacant_root {
            self.vacant_root = false;
            if let Some(last) = self.entries.pop()
                && !self.entries.is_empty()
            {
                self.sift_down(last);
            }
        }
    }

    fn sift_up(&mut self, entry: Entry<E>) {
        let key = entry.key();
        let mut hole = self.entries.len() - 1;
        while hole > 0 {
            let parent = (hole - 1) / ARITY;
            if self.entries[parent].key() <= key {
                break;
            }
            self.entries[hole] = self.entries[parent];
            hole = parent;
        }
        self.entries[hole] = entry;
    }

    /// Sinks `entry` from the root, which is a hole.
    fn sift_down(&mut self, entry: Entry<E>) {
        let entries = &mut self.entries[..];
        let key = entry.key();
        let mut hole = 0;
        loop {
            let first = hole * ARITY + 1;
            let Some(children) = entries.get(first..entries.len().min(first + ARITY)) else {
                break;
            };
            let Some((head, rest)) = children.split_first() else {
                break;
            };
            let (mut least, mut least_key) = (0, head.key());
            for (i, child) in rest.iter().enumerate() {
                let child_key = child.key();
                if child_key < least_key {
                    (least, least_key) = (i + 1, child_key);
                }
            }
            if key <= least_key {
                break;
            }
            entries[hole] = children[least];
            hole = first + least;
        }
        entries[hole] = entry;
    }
}
