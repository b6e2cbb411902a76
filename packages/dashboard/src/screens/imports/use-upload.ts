import { useRef, useState } from 'react';
import type { Import } from '@beckon/contract/dashboard';
import { useCall, useRefresh, useSendFile } from '../../api/index.ts';

export type UploadProgress = { sent: number; of: number };

/**
 * Uploads the missing parts of a file: after an interruption, the member selects the same file again and
 * continues. One part at a time, so that a slow connection is not shared.
 */
export function useUpload() {
  const call = useCall();
  const sendFile = useSendFile();
  const refresh = useRefresh();
  const [uploading, setUploading] = useState<UploadProgress | null>(null);
  const stop = useRef<AbortController | null>(null);

  async function upload(dataImport: Import, file: File): Promise<Import> {
    const controller = new AbortController();
    stop.current = controller;
    const { signal } = controller;
    try {
      const params = { import: dataImport.id };
      const { data } = await call('GET /projects/:project/imports/:import/parts', { params }, signal);
      const here = new Set(data.parts);
      let last = dataImport;
      for (let part = 0; part < dataImport.parts_total; part += 1) {
        if (!here.has(part)) last = await sendPart(last, { file, part, signal });
        here.add(part);
        setUploading({ sent: here.size, of: dataImport.parts_total });
      }
      await refresh('GET /projects/:project/imports');
      return last;
    } finally {
      setUploading(null);
    }
  }

  type Part = { file: File; part: number; signal: AbortSignal };
  async function sendPart(dataImport: Import, { file, part, signal }: Part): Promise<Import> {
    const from = part * dataImport.part_bytes;
    const body = file.slice(from, from + dataImport.part_bytes);
    const args = { params: { import: dataImport.id, part }, body };
    return (await sendFile('PUT /projects/:project/imports/:import/parts/:part', args, signal)).data;
  }

  return { upload, uploading, stop: () => stop.current?.abort() };
}

/** True if this is the same file as before. */
export function isSame(dataImport: Import, file: File): boolean {
  return (
    file.size === dataImport.size_bytes &&
    (dataImport.file_modified_at === null || dataImport.file_modified_at === file.lastModified)
  );
}
