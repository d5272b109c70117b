package org.symmem.bench;

import java.awt.BasicStroke;
import java.awt.Color;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import java.util.regex.Pattern;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.VectorGraphicsEncoder;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.Styler;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** Draws a report, as SVG and PNG; needs no display. Local; one thread. */
public final class Charts {
    /** The operation whose bandwidth is the limit of the others. */
    private static final String LIMIT = "local";
    private static final Pattern LONG_FRACTION = Pattern.compile("-?[0-9]+\\.[0-9]{3,}");
    private static final int WIDTH = 900;
    private static final int HEIGHT = 520;

    private final Report report;
    private final Path folder;
    private final String stem;

    /**
     * @param folder where the pictures go; made if it is not there
     * @param stem   what their names begin with
     */
    public Charts(Report report, Path folder, String stem) {
        this.report = report;
        this.folder = folder;
        this.stem = stem;
    }

    /**
     * Draws bandwidth over the size, and latency over the number of ranks where there are several.
     *
     * @return the files that were written
     * @throws IOException if one cannot be
     */
    public List<Path> draw() throws IOException {
        System.setProperty("java.awt.headless", "true");
        Files.createDirectories(folder);
        List<Path> drawn = new java.util.ArrayList<>();
        XYChart bandwidth = chart("Bandwidth by size", "bytes of a rank", "GB/s");
        add(bandwidth, row -> row.moved() > 0, Report.Row::bytes, Report.Row::gigabytesPerSecond);
        drawn.addAll(write(bandwidth, "bandwidth"));
        XYChart latency = chart("Latency by number of ranks", "ranks", "ns, median");
        long least = report.rows().stream().filter(row -> row.bytes() > 0).mapToLong(Report.Row::bytes).min().orElse(0);
        boolean several = report.rows().stream().mapToInt(Report.Row::ranks).distinct().count() > 1;
        if (several) {
            addByRanks(latency, least);
            drawn.addAll(write(latency, "latency"));
        }
        return drawn;
    }

    private XYChart chart(String title, String x, String y) {
        XYChart chart = new XYChartBuilder().width(WIDTH)
                .height(HEIGHT)
                .title(title + ", backend " + report.backend() + (report.emulated() ? " (EMULATED: says nothing about hardware)" : ""))
                .xAxisTitle(x)
                .yAxisTitle(y)
                .build();
        chart.getStyler()
                .setXAxisLogarithmic(true)
                .setYAxisLogarithmic(true)
                .setLegendPosition(Styler.LegendPosition.OutsideE)
                .setChartBackgroundColor(Color.WHITE)
                .setMarkerSize(6);
        return chart;
    }

    private void add(XYChart chart, Predicate<Report.Row> wanted, ToDoubleFunction<Report.Row> x, ToDoubleFunction<Report.Row> y) {
        Map<String, List<Report.Row>> series = new LinkedHashMap<>();
        long worlds = report.rows().stream().mapToInt(Report.Row::ranks).distinct().count();
        report.rows()
                .stream()
                .filter(wanted)
                .forEach(row -> series.computeIfAbsent(worlds > 1 ? row.operation() + ", " + row.ranks() + " ranks" : row.operation(),
                        name -> new java.util.ArrayList<>()).add(row));
        series.forEach((name, rows) -> {
            boolean limit = rows.getFirst().operation().equals(LIMIT);
            XYSeries one = chart.addSeries(limit ? "limit: " + name : name, rows.stream().mapToDouble(x).toArray(),
                    rows.stream().mapToDouble(y).toArray());
            if (limit) {
                one.setMarker(SeriesMarkers.NONE);
                one.setLineColor(Color.DARK_GRAY);
                one.setLineStyle(new BasicStroke(2, BasicStroke.CAP_BUTT, BasicStroke.JOIN_BEVEL, 10, new float[]{8, 4}, 0));
            }
        });
    }

    private void addByRanks(XYChart chart, long least) {
        Map<String, List<Report.Row>> series = new LinkedHashMap<>();
        report.rows()
                .stream()
                .filter(row -> row.bytes() == 0 || row.bytes() == least)
                .forEach(row -> series.computeIfAbsent(row.bytes() == 0 ? row.operation() : row.operation() + ", " + Sizes.text(least),
                        name -> new java.util.ArrayList<>()).add(row));
        series.forEach((name, rows) -> chart.addSeries(name, rows.stream().mapToDouble(Report.Row::ranks).toArray(),
                rows.stream().mapToDouble(row -> row.nanos().median()).toArray()));
    }

    /** Text is drawn as outlines, whose points have up to ten digits each; a hundredth of a pixel is fine enough. */
    private static void shorten(Path svg) throws IOException {
        String text = LONG_FRACTION.matcher(Files.readString(svg))
                .replaceAll(
                        number -> new BigDecimal(number.group()).setScale(2, RoundingMode.HALF_UP).stripTrailingZeros().toPlainString());
        Files.writeString(svg, text);
    }

    private List<Path> write(XYChart chart, String what) throws IOException {
        if (chart.getSeriesMap().isEmpty()) {
            return List.of();
        }
        String file = folder.resolve(stem + "-" + what).toString();
        VectorGraphicsEncoder.saveVectorGraphic(chart, file, VectorGraphicsEncoder.VectorGraphicsFormat.SVG);
        shorten(Path.of(file + ".svg"));
        BitmapEncoder.saveBitmap(chart, file, BitmapEncoder.BitmapFormat.PNG);
        return List.of(Path.of(file + ".svg"), Path.of(file + ".png"));
    }
}
