//! A limit on the memory of foreign programs: within its fuel, a template can double a text sixty
//! times.
//!
//! The bridge's allocator counts what a thread holds while it works under a budget. Nothing can be
//! unwound from inside an allocation, so a thread that goes over its budget sleeps for ever, with
//! what it holds, and whoever waits for it is told. The number of such threads is limited too.
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

pub struct Over;

const MOST_SLEEPERS: usize = 16;
static SLEEPERS: AtomicUsize = AtomicUsize::new(0);

/// Runs `work` on a thread of its own, which has `stack` bytes of stack and may hold `bytes` besides.
pub fn within<T: Send + 'static>(
    bytes: usize,
    stack: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Over> {
    if SLEEPERS.load(Ordering::Relaxed) >= MOST_SLEEPERS {
        return Err(Over);
    }
    let event = Arc::new(Event::default());
    let result = Arc::new(Mutex::new(None));
    let (seen, slot) = (event.clone(), result.clone());
    let spawned = thread::Builder::new().stack_size(stack).spawn(move || {
        ACCOUNT.set(Some(Account { left: bytes as isize, event: Arc::as_ptr(&seen) }));
        let outcome = catch_unwind(AssertUnwindSafe(work));
        ACCOUNT.set(None);
        *slot.lock().unwrap() = Some(outcome);
        seen.happen();
    });
    spawned.map_err(|_| Over)?;
    event.wait();
    let outcome = result.lock().unwrap().take();
    match outcome {
        Some(Ok(value)) => Ok(value),
        Some(Err(panic)) => resume_unwind(panic),
        None => {
            SLEEPERS.fetch_add(1, Ordering::Relaxed);
            Err(Over)
        }
    }
}

/// Something that another thread waits for.
#[derive(Default)]
struct Event {
    happened: Mutex<bool>,
    changed: Condvar,
}

impl Event {
    fn happen(&self) {
        *self.happened.lock().unwrap() = true;
        self.changed.notify_one();
    }
    fn wait(&self) {
        let guard = self.happened.lock().unwrap();
        drop(self.changed.wait_while(guard, |happened| !*happened).unwrap());
    }
}

#[derive(Clone, Copy)]
struct Account {
    left: isize,
    event: *const Event,
}

thread_local! {
    static ACCOUNT: Cell<Option<Account>> = const { Cell::new(None) };
}

/// `bytes` more, or less, for this thread. Does not return when they are too many.
fn charge(bytes: isize) {
    let Some(account) = ACCOUNT.get() else { return };
    let left = account.left.saturating_sub(bytes);
    ACCOUNT.set(Some(Account { left, ..account }));
    if left >= 0 {
        return;
    }
    ACCOUNT.set(None);
    // The event lives: this thread's own reference to it is never dropped.
    unsafe { (*account.event).happen() };
    loop {
        thread::sleep(Duration::from_secs(3600));
    }
}

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        charge(layout.size() as isize);
        System.alloc(layout)
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        charge(layout.size() as isize);
        System.alloc_zeroed(layout)
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        charge(size as isize - layout.size() as isize);
        System.realloc(at, layout, size)
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        charge(-(layout.size() as isize));
        System.dealloc(at, layout)
    }
}
