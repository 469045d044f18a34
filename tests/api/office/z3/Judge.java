import java.io.File;
import javax.xml.parsers.SAXParserFactory;
import org.xml.sax.SAXParseException;
import org.xml.sax.helpers.DefaultHandler;

/** Says how many mistakes a validating parser finds in a file. */
public class Judge {
    public static void main(String[] arguments) throws Exception {
        SAXParserFactory factory = SAXParserFactory.newInstance();
        factory.setValidating(true);
        int[] mistakes = {0};
        factory.newSAXParser().parse(new File(arguments[0]), new DefaultHandler() {
            @Override
            public void error(SAXParseException mistake) {
                mistakes[0]++;
                System.err.println(mistake.getLineNumber() + ": " + mistake.getMessage());
            }
        });
        System.out.println(mistakes[0]);
    }
}
