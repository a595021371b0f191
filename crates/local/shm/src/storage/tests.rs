//! Tests storages in a `/dev/shm` that has almost no room, in a separate mount namespace.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::process::Command;

use feros_test_support::{skip, words_of};
use iceoryx2::prelude::{FileName, SemanticString};
use iceoryx2_bb_posix::access_mode::AccessMode;
use iceoryx2_cal::dynamic_storage::{DynamicStorage, DynamicStorageBuilder};
use iceoryx2_cal::named_concept::{NamedConceptBuilder, NamedConceptMgmt};
use rustix::io::Errno;

use super::populate::SHM;
use super::{Head, Storage, forget_failure, take_failure};
use crate::page::page_bytes;

const CHILD: &str = "FEROS_STORAGE_CHILD";
/// The size of the test's `/dev/shm`.
const FILE_SYSTEM_PAGES: usize = 16;
/// The size of a storage.
const PAGES: usize = 8;

#[test]
fn a_size_that_nobody_needs_is_refused_before_any_memory_is_taken() {
    let name = format!("feros_test_{}_huge", std::process::id());
    let name = FileName::new(name.as_bytes()).unwrap();
    forget_failure();
    let refused = <Storage<u64, true> as DynamicStorage<u64>>::Builder::new(&name)
        .supplementary_size(1 << 40);
    refused.initializer(|_, _| panic!("memory was filled")).create().unwrap_err();
    assert_eq!(take_failure().unwrap().cause, Errno::FBIG);
}

/// The test starts itself again as a child process in the namespace.
#[test]
fn whatever_room_is_left_no_touch_of_a_storage_can_fail() {
    if std::env::var(CHILD).is_ok() {
        return in_a_small_dev_shm();
    }
    let wrap: &[&str] =
        if rustix::process::geteuid().is_root() { &["-m"] } else { &["-U", "-r", "-m"] };
    let unshare = |arguments: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(wrap).args(arguments).env(CHILD, "1");
        command
    };
    if !unshare(&["true"]).status().is_ok_and(|status| status.success()) {
        return skip(
            "the test needs a mount namespace for its own small /dev/shm; run the test as root",
        );
    }
    let size = FILE_SYSTEM_PAGES * page_bytes();
    let mount =
        format!("mount -t tmpfs -o size={size},mode=1777 none /dev/shm && exec \"$0\" \"$@\"");
    let this = words_of(std::env::current_exe().unwrap());
    let name = "storage::tests::whatever_room_is_left_no_touch_of_a_storage_can_fail";
    let mut child = unshare(&["sh", "-c", &mount]);
    let output = child.args(this).args(["--exact", name, "--nocapture"]).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(output.status.success(), "{}\n{said}", output.status);
    assert!(said.contains("a whole storage can be made if at least 8 pages are free"), "{said}");
    assert!(said.contains("a sparse storage can be made if at least 2 pages are free"), "{said}");
}

fn in_a_small_dev_shm() {
    let smallest =
        |is_made: &dyn Fn() -> bool| (0..=PAGES).find(|pages| with_room(*pages, is_made));
    let touched_all = smallest(&|| {
        make::<true>().is_some_and(|storage| {
            touch(&storage, 0..PAGES);
            true
        })
    });
    println!("a whole storage can be made if at least {} pages are free", touched_all.unwrap());
    let touched_first = smallest(&|| {
        make::<false>().is_some_and(|storage| {
            touch(&storage, 0..2);
            true
        })
    });
    println!("a sparse storage can be made if at least {} pages are free", touched_first.unwrap());
    let left: Vec<_> = fs::read_dir(SHM).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["filler"], "no file is left, whether its creation succeeded or failed");
}

/// Calls `run` while exactly this many pages are free.
fn with_room<T>(pages: usize, run: impl Fn() -> T) -> T {
    let filler = format!("{SHM}/filler");
    let _ = fs::write(&filler, vec![1; FILE_SYSTEM_PAGES * page_bytes()]);
    let full = fs::metadata(&filler).unwrap().len();
    fs::File::options()
        .write(true)
        .open(&filler)
        .unwrap()
        .set_len(full - (pages * page_bytes()) as u64)
        .unwrap();
    run()
}

/// Makes a storage whose initializer writes nothing. Its memory must be present nevertheless.
fn make<const WHOLE: bool>() -> Option<Storage<u64, WHOLE>> {
    let builder = || {
        <Storage<u64, WHOLE> as DynamicStorage<u64>>::Builder::new(&name())
            .supplementary_size(PAGES * page_bytes() - size_of::<Head<u64>>())
    };
    forget_failure();
    let Ok(storage) = builder().initializer(|_, _| true).create() else {
        assert_eq!(take_failure().unwrap().cause, Errno::NOSPC);
        assert!(!Storage::<u64, WHOLE>::does_exist_cfg(&name(), &<_>::default()).unwrap());
        return None;
    };
    drop(builder().open(AccessMode::ReadWrite).unwrap());
    Some(storage)
}

fn name() -> FileName {
    FileName::new(b"feros-storage").unwrap()
}

fn touch<const WHOLE: bool>(storage: &Storage<u64, WHOLE>, pages: std::ops::Range<usize>) {
    let size = page_bytes();
    for page in pages {
        let place = storage.mapping.start().as_ptr().wrapping_add(page * size + size / 2);
        // SAFETY: the address lies within the mapping, and there are no other references to the
        // mapping.
        unsafe { place.write_volatile(7) };
    }
}
