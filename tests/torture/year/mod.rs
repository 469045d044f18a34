//! The long life: a mill works day after day, and neither its file, its log nor its memory grows beyond the
//! data to be kept.
//!
//! A case is a day; days follow one another in one life, so `--seeds 365` is a year. The service runs in this
//! process with a settable clock, on a small separate file system. A day begins with a start, which drops old
//! data, and the nightly backup. Lorries come, documents are written, changed, made final and cancelled; at
//! midnight in Berlin the open invoices become final. On some days the backup is restored, the database is
//! migrated to a future schema and back, or the disk is full for a while. Both changes of the clocks are
//! within a year.
//!
//! At its end a day is checked (`year/look.rs`).

mod day;
mod look;
mod server;

use std::path::PathBuf;
use std::sync::Mutex;
use std::thread::sleep;
use std::time::{Duration, Instant};

use partnerd::operations::backup::restore;
use partnerd::platform::db::system_clock;
use partnerd::rules::day::Day;
use serde_json::json;

use crate::dice::Dice;
use crate::experiment::{Case, Experiment};
use crate::full::Disk;
use crate::power::recording::Log;
use crate::process::{Client, Folder};
use crate::programs::MOUNT;
use crate::upgrade::upgrade;
use day::{Counts, done, load};
use look::Measures;
use server::{Server, Time};

pub const EXPERIMENT: Experiment = Experiment {
    promise: "long life",
    what: "days of a mill, one behind the other",
    needs: &[MOUNT, "cc"],
    seeds: 3,
    case,
    fault: "old rows of the log are not dropped",
    control_seeds: 1,
};

/// 2026-10-24, the day before the end of summer time, as days since 1970.
const FIRST_DAY: i64 = 20_750;

/// Days before the first one of old log rows that are to be dropped.
const LONG_AGO: i64 = 100;

/// Requests on each of two days long ago.
const OLD_REQUESTS: usize = 50;

const LOADS: usize = 3;

const PATIENCE: Duration = Duration::from_secs(120);

/// A life continues from one case to the next.
static LIFE: Mutex<Option<Life>> = Mutex::new(None);

fn case(case: &mut Case) -> Result<u64, String> {
    let mut life = LIFE.lock().map_err(|_| "the day before ended in a panic")?;
    if case.has_fault {
        *life = None;
    }
    let lived = life.get_or_insert_with(|| Life::begin(case.has_fault)).day(&mut case.dice);
    // The control comes last: nothing else would release its file system.
    if case.has_fault {
        *life = None;
    }
    lived.map(|()| 1)
}

struct Life {
    disk: Disk,
    key: String,
    time: Time,
    /// Completed days.
    days: i64,
    /// Everything answered.
    counts: Counts,
    measures: Measures,
}

impl Life {
    /// Creates a company with an old log. If the log has no row of the day before, a clock that is a hundred
    /// days ahead is not trusted, and nothing is dropped: that is the fault.
    fn begin(has_fault: bool) -> Life {
        let (disk, time) = (Disk::new(768), Time::default());
        std::fs::create_dir(disk.folder.file("nachts")).unwrap();
        time.set(FIRST_DAY - LONG_AGO, 3, 0);
        let key = server::company(&disk.folder.file("partnerd.db"), time.now());
        wheat(&disk.folder, FIRST_DAY - LONG_AGO);
        let life =
            Life { disk, key, time, days: 0, counts: Counts::default(), measures: Measures::default() };
        for (day, number, typ) in [(LONG_AGO, "L-100", "lieferant"), (LONG_AGO - 1, "K-1", "kunde")] {
            life.time.set(FIRST_DAY - day, 4, 0);
            let server = life.start();
            (0..OLD_REQUESTS).for_each(|_| assert_eq!(server.client.get("/api/v1/laender").status, 200));
            day::partner(&server.client, number, typ).unwrap();
            server.stop();
        }
        if !has_fault {
            life.time.set(FIRST_DAY - 1, 18, 0);
            let server = life.start();
            day::partner(&server.client, "K-2", "kunde").unwrap();
            server.stop();
        }
        life
    }

    fn database(&self) -> PathBuf {
        self.disk.folder.file("partnerd.db")
    }

    fn start(&self) -> Server {
        Server::start(&self.database(), &self.disk.folder.file("nachts"), &self.time, &self.key)
    }

    /// Today, as days since 1970.
    fn today(&self) -> i64 {
        FIRST_DAY + self.days
    }

    fn day(&mut self, dice: &mut Dice) -> Result<(), String> {
        let today = self.today();
        self.time.set(today, 3, 0);
        let mut server = self.start();
        self.wait_for("the backup of the night", || self.of_the_night().exists())?;
        let of_the_night = self.counts.clone();
        self.work(&server.client, dice, 8)?;
        if self.days % 30 == 1 {
            server.stop();
            self.restore_backup()?;
            self.counts = of_the_night;
            server = self.start();
            self.work(&server.client, dice, 11)?;
        }
        if self.days % 100 == 2 {
            server.stop();
            self.upgrade_and_back()?;
            server = self.start();
        }
        if self.days % 120 == 0 {
            self.full_disk(&server.client)?;
        }
        self.evening(&server.client)?;
        self.measures.of_running(&server.client, &self.database())?;
        server.stop();
        self.look()?;
        self.days += 1;
        Ok(())
    }

    fn of_the_night(&self) -> PathBuf {
        let day = Day::in_berlin(self.time.now());
        self.disk.folder.file(&format!("nachts/partnerd-{day}.db"))
    }

    fn work(&mut self, client: &Client, dice: &mut Dice, hour: i64) -> Result<(), String> {
        for nr in 0..LOADS {
            self.time.set(self.today(), hour + nr as i64, dice.below(60) as i64);
            let name = format!("{}-{hour}-{nr}", self.today());
            load(client, dice, &name, &mut self.counts)?;
        }
        Ok(())
    }

    /// The last document of the day has the date of Berlin, and at midnight open invoices become final.
    fn evening(&mut self, client: &Client) -> Result<(), String> {
        self.time.set(self.today(), 21, 30);
        let item = json!({"bezeichnung": "Fracht", "menge": 1, "ep_netto": "12.50", "mwst_satz": 19});
        let body = json!({"beleg_typ": "RE", "kundennummer": "K-1", "items": [item]});
        self.time.set(self.today(), 22, 30);
        let answer = done(client, "POST", "/api/v1/belege", body)?;
        self.counts.invoices += 1;
        let path = format!("/api/v1/belege/{}", day::id(&answer));
        let stored = client.get(&path).body;
        let expected = look::text_of_day(self.today() + i64::from(look::is_summer(self.today())));
        if !stored["beleg_datum"].as_str().is_some_and(|day| day.starts_with(&expected)) {
            return Err(format!("at 22:30 UTC of {expected} in Berlin: {}", stored["beleg_datum"]));
        }
        // After midnight in Berlin, on the day after `expected`.
        self.time.set(self.today() + i64::from(look::is_summer(self.today())), 23, 30);
        self.wait_for("the end of the day", || client.get(&path).body["status"] == "abgeschlossen")
    }

    fn restore_backup(&self) -> Result<(), String> {
        let restored = restore(&self.database(), &self.of_the_night(), &self.time.clock(), |_| Ok(()));
        let restored = restored.map_err(|failure| format!("restore: {failure}"))?;
        // After a successful restore, people delete the previous database.
        restored.set_aside.map_or(Ok(()), std::fs::remove_file).map_err(|error| error.to_string())
    }

    /// Migrates to the future schema, and back to the copy it keeps.
    fn upgrade_and_back(&self) -> Result<(), String> {
        let steps = upgrade(&self.database(), self.time.now(), true);
        steps.map_err(|failure| format!("upgrade: {failure}"))?;
        let kept = look::names(&self.disk.folder).into_iter().find(|name| name.contains("-before-v"));
        let kept = self.disk.folder.file(&kept.ok_or("the upgrade kept no copy")?);
        restore_over_newer(&self.database(), &kept, &self.time)
    }

    fn full_disk(&mut self, client: &Client) -> Result<(), String> {
        let text = "x".repeat(3_000);
        let write = |nr: usize| {
            let body = json!({"name": "Hof", "kundennr": format!("V-{}-{nr}", self.days), "notizen": text});
            client.send("POST", "/api/v1/kunden", Some(&body)).map_or(0, |answer| answer.status)
        };
        self.disk.fill();
        let refused = (0..10_000).find(|nr| write(*nr) != 201).ok_or("a full disk refuses nothing")?;
        let (written, read) = (write(refused), client.get("/api/v1/belege?limit=1").status);
        self.disk.free();
        let again = write(refused);
        match (written, read, again) {
            (503, 200, 201) => Ok(()),
            _ => Err(format!("full disk: a write {written}, a read {read}; then a write {again}")),
        }
    }

    fn wait_for(&self, what: &str, is_done: impl Fn() -> bool) -> Result<(), String> {
        let until = Instant::now() + PATIENCE;
        while !is_done() {
            if Instant::now() > until {
                return Err(format!("day {}: {what} does not come", self.days));
            }
            sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    fn look(&mut self) -> Result<(), String> {
        let (folder, clock) = (&self.disk.folder, self.time.clock());
        let found = look::has_nothing_left(folder)
            .and_then(|()| look::is_whole(&self.database(), &clock))
            .and_then(|()| look::counted(&self.database(), &self.counts))
            .and_then(|()| look::old_is_dropped(&self.database(), self.today()))
            .and_then(|()| self.measures.of_day(&self.database(), &self.counts, self.days));
        found.map_err(|found| format!("day {} ({}): {found}", self.days, look::text_of_day(self.today())))
    }
}

/// Imports an article with the command line, with this day as its clock.
fn wheat(folder: &Folder, day: i64) {
    let article = json!([{"artikelnummer": "W", "bezeichnung": "Weizen", "einheit": "kg", "preis": "0.30",
        "ep_netto": "0.20", "chargenpflichtig": true}]);
    let (file, logs) = (folder.write("artikel.json", &article.to_string()), Folder::new());
    let mut command = folder.command(&["import", "artikel", &file, "--tenant", "Mühle"]);
    Log::of(&mut command, folder, &logs);
    let today = system_clock()().millis() / 86_400_000;
    command.env("TORTURE_DAYS", (day - today).to_string());
    assert!(command.output().unwrap().status.success());
}

/// An older executable restores a copy it can read over a newer database.
fn restore_over_newer(database: &std::path::Path, kept: &std::path::Path, time: &Time) -> Result<(), String> {
    let restored = restore(database, kept, &time.clock(), |_| Ok(()));
    let restored = restored.map_err(|failure| format!("restore of {}: {failure}", kept.display()))?;
    let left = restored.set_aside.into_iter().chain([kept.to_owned()]);
    left.into_iter().try_for_each(std::fs::remove_file).map_err(|error| error.to_string())
}
