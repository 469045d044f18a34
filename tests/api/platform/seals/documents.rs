//! What somebody does to documents and their evidence.

use super::{Forger, NEWEST, refinalise, sql};

/// What somebody does, what the proof says of it, whether it needs no secret to be seen, and how it is done.
pub type DocumentAttack = (&'static str, &'static str, bool, Box<dyn Fn(&Forger)>);

pub fn attacks() -> Vec<DocumentAttack> {
    let newest = |change: &str| sql(&format!("update beleg set {change} where {NEWEST}"));
    vec![
        ("the newest final document is altered", "wurde geändert", true,
         newest("notizen = 'bar bezahlt'")),
        ("the newest final document is altered, and finalised again", "wurde geändert", true, Box::new(|forger| {
            // The evidence keeps the row of the first time; a second one comes behind it.
            refinalise(forger, "");
        })),
        ("and what the evidence had of it is removed", "der Kette der Nachweise wurde \
             geändert", false, Box::new(|forger| {
            refinalise(forger, "delete from beleg_pdf where beleg_id = (select max(id) from beleg where \
                 ereignis_am is not null);
               delete from nachweis where nr >= (select min(nr) from nachweis n
                 where n.id = (select max(id) from beleg where ereignis_am is not null));
               update kette set letzte_nr = (select max(nr) from nachweis),
                 pruefsumme = (select pruefsumme from nachweis order by nr desc limit 1) where name = 'nachweis';");
        })),
        ("the state of a final document is altered", "der Stand jedes abgeschlossenen Belegs folgt aus seinem \
             Verlauf", true,
         newest("status = 'erledigt'")),
        ("a change is not in the history", "jede Änderung eines Belegs steht in seinem \
             Verlauf", true, newest("version = version + 1")),
        ("the content of a PDF is replaced", "der Inhalt von PDF", true,
         sql("update beleg_pdf set inhalt = x'255044462d' where rowid = 1")),
        ("a PDF is replaced by another one with its sha256", "wurde geändert", true, sql(
            "update beleg_pdf set inhalt = (select inhalt from beleg_pdf where rowid = 2),
               sha256 = (select sha256 from beleg_pdf where rowid = 2) where rowid = 1",
        )),
        ("a PDF is deleted", "wurde entfernt", true, sql("delete from beleg_pdf where rowid = 1")),
        ("a PDF is inserted", "wurde eingefügt", true, sql(
            "insert into beleg_pdf select tenant_id, randomblob(16), beleg_id, dateiname, sha256, erstellt_am, inhalt
               from beleg_pdf where rowid = 1",
        )),
        ("a PDF is deleted with its evidence", "der Kette der Nachweise wurde entfernt", true, sql(
            "delete from nachweis where id = (select id from beleg_pdf where rowid = 1); delete from beleg_pdf \
                 where rowid = 1",
        )),
        ("the last PDF is deleted, and the end of the evidence \
             cut", "das Ende der Kette der Nachweise wurde geändert", false, sql(
            "delete from beleg_pdf where id = (select id from nachweis where art = 'pdf' order by nr desc limit 1);
             delete from nachweis where nr >= (select max(nr) from nachweis where art = 'pdf');
             update kette set letzte_nr = (select max(nr) from nachweis),
               pruefsumme = (select pruefsumme from nachweis order by nr desc limit 1) where name = 'nachweis'",
        )),
        ("a version of the history is replaced", "Stand 1 von Beleg", true,
         sql("update beleg_verlauf set beleg = replace(beleg, '\"status\":\"offen\"', '\"status\":\"final\"') \
              where rowid = 1")),
        ("the positions of a version are replaced", "Stand 1 von Beleg", true,
         sql("update beleg_verlauf_positionen set positionen = replace(positionen, 'Fracht', 'Spende') where \
              rowid = 1")),
        ("the positions of a version are deleted", "Stand 1 von Beleg", true,
         sql("delete from beleg_verlauf_positionen where rowid = 1")),
        ("a version of the history is deleted", "Stand 1 von \
             Beleg", true, sql("delete from beleg_verlauf where rowid = 1")),
        ("a version of the history is inserted", "wurde eingefügt", true, sql(
            "insert into beleg_verlauf select tenant_id, beleg_id, 77, am, key_id, aktion, beleg from beleg_verlauf
               where rowid = 1",
        )),
        ("a change of a partner is altered", "der Inhalt von Stand 2 von Partner", true,
         sql("update kunde_verlauf set felder = replace(felder, '0815', '4711')")),
        ("a change of a partner is said to be of another key", "Stand 2 von Partner", true,
         sql("update kunde_verlauf set key_id = 'x'")),
        ("a change of a partner is deleted", "Stand 2 von Partner", true, sql("delete from kunde_verlauf")),
        ("a change of a partner is inserted", "wurde eingefügt", true, sql(
            "insert into kunde_verlauf select tenant_id, kunde_id, 77, am, key_id, felder, sha256 from \
                 kunde_verlauf limit 1",
        )),
        ("an attachment is altered", "der Inhalt von Anhang", true,
         sql("update anhang set inhalt = x'00' where rowid = 1")),
        ("an attachment has another name", "wurde geändert", true, sql("update anhang set dateiname = 'x.txt' \
             where rowid = 1")),
        ("an attachment is deleted", "wurde entfernt", true, sql("delete from anhang where rowid = 1")),
        ("the whole evidence is removed", "das Ende der Kette der Nachweise wurde geändert", true, sql(
            "delete from nachweis; update kette set letzte_nr = 0, pruefsumme = zeroblob(32) where name = 'nachweis'",
        )),
        ("the head of the evidence is removed", "das Ende der Kette der Nachweise wurde entfernt", true,
         sql("delete from kette where name = 'nachweis'")),
        ("the seal of the evidence is gone", "das Ende der Kette der Nachweise wurde geändert", false,
         sql("update kette set mac = null where name = 'nachweis'")),
    ]
}
