/** Rows under their names, in columns that are as wide as they must be. */
export function table(rows: Record<string, unknown>[], none: string): string {
  const [first] = rows;
  if (!first) return none;
  const names = Object.keys(first);
  const cells = rows.map((row) => names.map((name) => show(row[name])));
  const lines = [names, ...cells];
  const widths = names.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function show(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (value instanceof Date) return value.toISOString();
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  // A stored text could otherwise move the cursor of the terminal that shows it.
  return text.replaceAll(/\p{Cc}/gu, '\u{FFFD}');
}
