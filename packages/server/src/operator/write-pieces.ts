import { type FileHandle, open, unlink } from 'node:fs/promises';
import { Fault } from '../base/fault.ts';

/**
 * Piece by piece, a line each, into a new file that its owner alone can read; how many bytes there are. The file is made with
 * the first piece, so that what cannot begin leaves none; half of it is removed.
 */
export async function writePieces(file: string, pieces: AsyncGenerator<string, void, void>): Promise<number> {
  const first = await pieces.next();
  const handle = await create(file);
  try {
    let bytes = first.done === true ? 0 : await write(handle, first.value);
    for await (const piece of pieces) bytes += await write(handle, piece);
    await handle.sync();
    return bytes;
  } catch (error) {
    await unlink(file);
    throw error;
  } finally {
    await handle.close();
  }
}

async function write(handle: FileHandle, piece: string): Promise<number> {
  const text = `${piece}\n`;
  await handle.appendFile(text);
  return Buffer.byteLength(text);
}

async function create(file: string): Promise<FileHandle> {
  try {
    return await open(file, 'wx', 0o600);
  } catch (error) {
    const isThere = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    const why = isThere
      ? 'is there already'
      : `cannot be made: ${error instanceof Error ? error.message : String(error)}`;
    throw new Fault('validation_failed', { details: [{ message: `${file} ${why}`, field: 'file' }] });
  }
}
