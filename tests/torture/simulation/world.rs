//! Events around the requests: the clock jumps, the server is stopped and killed, backups are made and restored.

use std::time::{Duration, Instant};

use super::base::{self, Base, FIRMS};
use super::client::Answer;
use super::model::{Firm, TICK};
use super::player::{Player, body};
use super::request::Request;
use super::step::{Step, World};
use crate::strace::Strace;

/// How long the server may take for work it does by itself.
const PATIENCE: Duration = Duration::from_secs(120);

impl Player {
    pub fn turn(&mut self, step: &Step, world: World) -> Result<(), String> {
        if !matches!(world, World::Kill | World::KillUnder | World::FailUnder(_)) {
            // Rows older than 90 days may be dropped then.
            self.read_feeds()?;
        }
        match world {
            World::Clock(to) => {
                self.model.play(step);
                self.served.as_mut().unwrap().set_clock(to);
                self.until_days_have_ended()
            }
            World::Restart(_) => {
                self.stop();
                self.model.play(step);
                self.start()
            }
            World::Kill => {
                self.kill();
                self.model.play(step);
                self.prove()?;
                self.start()
            }
            World::KillUnder | World::FailUnder(_) => {
                self.under = Some(world);
                self.model.play(step);
                Ok(())
            }
            World::Backup => self.back_up(step),
            World::Restore => self.restore(step),
        }
    }

    /// Sends a request while the server is killed, or its calls fail; then starts it again. Returns the answer.
    pub fn send_under(
        &mut self,
        under: World,
        firm: usize,
        key: usize,
        asked: &Request,
        headers: &[(&'static str, String)],
    ) -> Result<Option<Answer>, String> {
        let wait = Duration::from_micros(self.dice.below(6_000) as u64);
        let (client, key) = (self.client.clone(), &Base::get().keys[firm][key]);
        let send = || client.send(key, asked.method, &asked.path, &body(asked), headers);
        let answer = match under {
            World::FailUnder(inject) => {
                let strace = Strace::attach(&self.folder, self.served.as_ref().unwrap().pid(), inject);
                let answer = send();
                strace.ends(&self.folder, false);
                self.kill();
                answer
            }
            _ => std::thread::scope(|scope| {
                let sent = scope.spawn(send);
                std::thread::sleep(wait);
                self.kill();
                sent.join().unwrap()
            }),
        };
        if let Ok(answer) = &answer {
            self.answered.push((answer.request_id.clone(), self.model.now));
        }
        self.start()?;
        self.served.as_mut().unwrap().set_clock(self.model.now + TICK);
        Ok(answer.ok())
    }

    /// The server looks at the clock each second.
    fn until_days_have_ended(&self) -> Result<(), String> {
        let open =
            |firm: &Firm| firm.documents.values().filter(|of| of.typ == "RE" && of.status == "offen").count();
        let expected = self.model.firms.iter().map(open).sum::<usize>() as i64;
        let begun = Instant::now();
        loop {
            let count = "select count(*) from beleg where beleg_typ = 'RE' and status = 'offen'";
            let found: i64 = base::look(&self.folder).query_row(count, [], |row| row.get(0)).unwrap();
            if found == expected {
                return Ok(());
            }
            if begun.elapsed() > PATIENCE {
                return Err(format!("{found} invoices are open at the end of the day instead of {expected}"));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Restarts the server first, so that the log contains all rows of the reads, too.
    pub fn back_up(&mut self, step: &Step) -> Result<(), String> {
        self.stop();
        self.start()?;
        let _ = std::fs::remove_file(self.folder.file("backup.db"));
        self.folder.result(&["backup", "backup.db"]);
        self.backup = Some(self.answered.len());
        self.model.play(step);
        Ok(())
    }

    /// Resets the database; later changes are lost, and cursors of the feed expire.
    pub fn restore(&mut self, step: &Step) -> Result<(), String> {
        self.kill();
        self.folder.result(&["restore", "backup.db"]);
        self.answered.truncate(self.backup.expect("a backup"));
        self.session.1 = 0;
        self.model.play(step);
        self.prove()?;
        self.start()?;
        for firm in 0..FIRMS.len() {
            let cursor = self.cursors[firm].clone().unwrap_or_default();
            let answer = self.read(firm, &format!("/api/v1/aenderungen?seit={cursor}"))?;
            if answer.status != 410 {
                return Err(format!("a cursor from before the restore: {}", answer.body));
            }
            let remaining = answer.remaining.ok_or("no X-RateLimit-Remaining")?;
            self.model.adopt_remaining(firm, 0, remaining);
        }
        self.begin_feed()?;
        self.compare_all()
    }
}
