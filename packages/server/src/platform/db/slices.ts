/** Enough rows that the cost of a statement is small in comparison, and few enough that the next slice follows soon. */
const SLICE_ROWS = 250;
/** Escaping this much text and copying it to the connection takes about 10 ms. Four megabytes in one statement took 250 ms. */
const SLICE_BYTES = 256 * 1024;

export type SliceOptions<T> = {
  /** Returns the approximate size of a row. Omit it for rows that are always small. */
  bytesOf?: (row: T) => number;
  /** Awaited between two slices, so that the process can serve requests. */
  pause?: () => Promise<void>;
};

/**
 * Sends many rows in several statements. The database writes one slice while the next is prepared here: both take about as long, on
 * different CPUs. Resolves when all slices are sent, so that statements sent afterwards see their rows; `written` settles when all are
 * written.
 */
export async function sendInSlices<T>(
  rows: Iterable<T>,
  send: (slice: T[]) => Promise<unknown>,
  { bytesOf, pause }: SliceOptions<T> = {},
): Promise<{ written: Promise<void> }> {
  const results: Promise<unknown>[] = [];
  let slice: T[] = [];
  let bytes = 0;
  const sendSlice = (): void => {
    const result = send(slice);
    // A slice that fails during a pause is reported by `written`.
    result.catch(() => {});
    results.push(result);
    slice = [];
    bytes = 0;
  };
  for (const row of rows) {
    if (slice.length === SLICE_ROWS || bytes >= SLICE_BYTES) {
      sendSlice();
      if (pause) await pause();
    }
    slice.push(row);
    bytes += bytesOf?.(row) ?? 0;
  }
  if (slice.length > 0) sendSlice();
  const written = Promise.all(results).then(() => {});
  written.catch(() => {});
  return { written };
}

/** Sends many rows like `sendInSlices`, and resolves when all are written. */
export async function inSlices<T>(
  rows: Iterable<T>,
  send: (slice: T[]) => Promise<unknown>,
  options?: SliceOptions<T>,
): Promise<void> {
  const { written } = await sendInSlices(rows, send, options);
  await written;
}
