import type { ListResponse, Raw } from '@beckon/contract/dashboard';
import { csvLine } from '@beckon/contract/files';
import type { FastifyReply } from 'fastify';
import { plainCell } from '../../../platform/text/csv.ts';
import type { ListQuery } from './pages.ts';
import { sendPieces } from './streams.ts';

export type CsvCell = string | number | boolean | null;

/** The columns of a file by their names. Text is written so that no spreadsheet runs it as a formula. */
export type CsvColumns<Row> = { [name: string]: (row: Row) => CsvCell };

type CsvFile<Row> = {
  name: string;
  columns: CsvColumns<Row>;
  /** Reads a page of the list, as the route of the list does. */
  load: (page: ListQuery) => Promise<ListResponse<Row>>;
};

const ROWS_PER_PAGE = 500;

/**
 * Sends a list as CSV: the rows of its pages with the same filter in the same order. Only one page is in memory at a time. The first page is
 * read before the response begins, so that an invalid filter is refused with a proper status.
 */
export async function sendCsv<Row>(reply: FastifyReply, file: CsvFile<Row>): Promise<Raw> {
  const first = await file.load({ limit: ROWS_PER_PAGE, isCounted: false });
  return sendPieces(reply, { name: file.name, type: 'text/csv; charset=utf-8' }, linesOf(file, first));
}

async function* linesOf<Row>(
  { columns, load }: CsvFile<Row>,
  first: ListResponse<Row>,
): AsyncGenerator<string, void, void> {
  const cells = Object.values(columns);
  yield `${csvLine(Object.keys(columns))}\n`;
  for (let page = first; ;) {
    const lines = page.data.map((row) => csvLine(cells.map((cell) => cellText(cell(row)))));
    if (lines.length > 0) yield `${lines.join('\n')}\n`;
    const { cursor } = page.meta;
    if (cursor === null) return;
    page = await load({ cursor, limit: ROWS_PER_PAGE, isCounted: false });
  }
}

function cellText(value: CsvCell): string | null {
  return typeof value === 'string' ? plainCell(value) : value === null ? null : String(value);
}
