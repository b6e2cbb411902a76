/** So many rows that a statement's own cost is small beside them, so few that the next ones are soon on their way. */
const SLICE = 250;

/**
 * Sends many rows by several statements: while the database writes the first ones, the next are put into words here. Both
 * take about as long, and there is a processor for each.
 */
export async function inSlices<T>(rows: T[], send: (slice: T[]) => Promise<unknown>): Promise<void> {
  const sent: Promise<unknown>[] = [];
  for (let from = 0; from < rows.length; from += SLICE) sent.push(send(rows.slice(from, from + SLICE)));
  await Promise.all(sent);
}
