package programs;

import java.util.Random;
import org.antlr.v4.Tool;
import org.antlr.v4.runtime.CharStreams;
import org.antlr.v4.runtime.CommonTokenStream;
import org.antlr.v4.runtime.ParserInterpreter;
import org.antlr.v4.tool.Grammar;

/** ANTLR: a grammar is read again and again, and its parser reads texts. */
public final class Grammars {
    private static final String TEXT = "grammar T; file: statement+ ; statement: NAME '=' sum ';' ; sum: product (('+'|'-') product)* ; "
            + "product: atom (('*'|'/') atom)* ; atom: NUMBER | NAME | '(' sum ')' ; NAME: [a-z]+ ; NUMBER: [0-9]+ ; WS: [ \\n]+ -> skip ;";

    private Grammars() {}

    public static void main(String[] arguments) throws Exception {
        int rounds = Integer.parseInt(arguments[0]);
        Random random = new Random(6);
        long sum = 0;
        for (int round = 0; round < rounds; round++) {
            Grammar grammar = new Grammar(TEXT);
            for (int i = 0; i < 10; i++) {
                var lexer = grammar.createLexerInterpreter(CharStreams.fromString(text(random)));
                ParserInterpreter parser = grammar.createParserInterpreter(new CommonTokenStream(lexer));
                sum += parser.parse(0).toStringTree(parser).length();
            }
        }
        System.out.println(sum + " " + Tool.VERSION);
    }

    private static String text(Random random) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < 50; i++) {
            out.append(Data.word(random)).append(" = (").append(random.nextInt(1000)).append(" + ").append(Data.word(random)).append(") * 3 - 7;\n");
        }
        return out.toString();
    }
}
