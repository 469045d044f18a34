//! A second server on a file already in use is refused, under whatever name it knows the file (P24).

use crate::admin::{refused, serve_in_vain};
use crate::process::Folder;

#[test]
fn a_second_server_is_refused_by_whatever_name_it_knows_the_file() {
    let folder = Folder::new();
    folder.company("Mühle");
    let _server = folder.serve(&[]);
    std::fs::create_dir(folder.file("anders")).unwrap();
    std::os::unix::fs::symlink(folder.file("partnerd.db"), folder.file("anders/link.db")).unwrap();
    refused(
        &serve_in_vain(&folder, "anders/link.db"),
        &["wird schon von einem anderen partnerd benutzt", "zuerst anhalten"],
    );
    assert_eq!(
        std::fs::read_dir(folder.file("anders")).unwrap().count(),
        1,
        "nothing stands beside the link"
    );
}

/// A copy by hard links (cp -al, some backup programs) is the same file, but each name has its own log beside it.
#[test]
fn a_file_that_is_served_is_opened_by_no_other_name_and_with_no_deleted_lock() {
    let folder = Folder::new();
    folder.company("Mühle");
    let server = folder.serve(&[]);
    std::fs::create_dir(folder.file("stand")).unwrap();
    std::fs::hard_link(folder.file("partnerd.db"), folder.file("stand/partnerd.db")).unwrap();
    let other = "stand/partnerd.db";
    refused(&serve_in_vain(&folder, other), &["Hardlink", "find / -xdev -samefile"]);
    refused(&folder.run(&["--db", other, "tenant", "list"]), &["Hardlink"]);
    refused(&folder.run(&["--db", other, "restore", "gut.db"]), &["Hardlink"]);
    folder.result(&["tenant", "list"]);
    let doctor = String::from_utf8(folder.run(&["doctor"]).stdout).unwrap();
    assert!(doctor.contains("2 Namen"), "{doctor}");

    std::fs::remove_file(folder.file("partnerd.db-lock")).unwrap();
    refused(&serve_in_vain(&folder, "partnerd.db"), &["jemand hat -lock gelöscht"]);
    refused(&folder.run(&["restore", "gut.db"]), &["jemand hat -lock gelöscht"]);
    drop(server);
    std::fs::remove_file(folder.file("partnerd.db")).unwrap();
    std::fs::rename(folder.file(other), folder.file("partnerd.db")).unwrap();
    let _again = folder.serve(&[]);
}
