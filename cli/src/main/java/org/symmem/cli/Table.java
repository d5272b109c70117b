package org.symmem.cli;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;

/** Rows of text in columns as wide as their widest cell. */
final class Table {
    private final List<List<String>> rows = new ArrayList<>();
    private final String alignment;

    /**
     * @param alignment one letter a column: {@code l}eft or {@code r}ight
     * @param titles    the first row
     */
    Table(String alignment, String... titles) {
        this.alignment = alignment;
        rows.add(List.of(titles));
    }

    void row(String... cells) {
        rows.add(List.of(cells));
    }

    void print(PrintStream out) {
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int column = 0; column < row.size(); column++) {
                int at = column;
                int width = rows.stream().mapToInt(other -> other.get(at).length()).max().orElse(0);
                String space = " ".repeat(width - row.get(column).length());
                line.append(column == 0 ? "" : "  ")
                        .append(alignment.charAt(column) == 'r' ? space + row.get(column) : row.get(column) + space);
            }
            out.println(line.toString().stripTrailing());
        }
    }
}
