import { useRef, useState } from 'react';
import type { Import } from '@beckon/contract/dashboard';
import { useCall, useRefresh, useSendFile } from '../../api/index.ts';

export type Uploading = { sent: number; of: number };

/**
 * Uploads the missing parts of a file: after an interruption, the member selects the same file again and
 * continues. One part at a time, so that a slow connection is not shared.
 */
export function useUpload() {
  const call = useCall();
  const sendFile = useSendFile();
  const refresh = useRefresh();
  const [uploading, setUploading] = useState<Uploading | null>(null);
  const stop = useRef<AbortController | null>(null);

  async function upload(one: Import, file: File): Promise<Import> {
    const controller = new AbortController();
    stop.current = controller;
    const { signal } = controller;
    try {
      const params = { import: one.id };
      const { data } = await call('GET /projects/:project/imports/:import/parts', { params }, signal);
      const here = new Set(data.parts);
      let last = one;
      for (let part = 0; part < one.parts_total; part += 1) {
        if (!here.has(part)) last = await sendPart(last, { file, part, signal });
        here.add(part);
        setUploading({ sent: here.size, of: one.parts_total });
      }
      await refresh('GET /projects/:project/imports');
      return last;
    } finally {
      setUploading(null);
    }
  }

  type Part = { file: File; part: number; signal: AbortSignal };
  async function sendPart(one: Import, { file, part, signal }: Part): Promise<Import> {
    const from = part * one.part_bytes;
    const body = file.slice(from, from + one.part_bytes);
    const ask = { params: { import: one.id, part }, body };
    return (await sendFile('PUT /projects/:project/imports/:import/parts/:part', ask, signal)).data;
  }

  return { upload, uploading, stop: () => stop.current?.abort() };
}

/** True if this is the same file as before. */
export function isSame(one: Import, file: File): boolean {
  return (
    file.size === one.size_bytes &&
    (one.file_modified_at === null || one.file_modified_at === file.lastModified)
  );
}
