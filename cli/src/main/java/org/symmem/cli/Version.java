package org.symmem.cli;

import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import java.util.Properties;
import picocli.CommandLine.IVersionProvider;

/** What {@code --version} prints; the build writes the number. */
final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() throws IOException {
        Properties properties = new Properties();
        try (InputStream in = Objects.requireNonNull(Version.class.getResourceAsStream("version.properties"))) {
            properties.load(in);
        }
        return new String[]{"symmem " + properties.getProperty("version") + " (Java " + Runtime.version() + ", "
                + System.getProperty("os.name") + " " + System.getProperty("os.arch") + ")"};
    }
}
