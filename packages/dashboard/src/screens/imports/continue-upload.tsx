import { FileInput, Progress, Stack } from '@mantine/core';
import { FileText } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { Import } from '@beckon/contract/dashboard';
import { ApiError, useApi, useRefresh } from '../../api/index.ts';
import { ErrorBox } from '../../parts/index.ts';
import { Section } from '../../parts/section.tsx';
import { isSame, useUpload } from './use-upload.ts';
import { count } from './words.ts';
import { Muted } from '../../parts/muted.tsx';

/** Continues an incomplete upload when the member selects the same file again. */
export function ContinueUpload({ dataImport }: { dataImport: Import }): ReactNode {
  const [failure, setFailure] = useState<ApiError | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const { upload, uploading } = useUpload();
  const refresh = useRefresh();
  const parts = useApi('GET /projects/:project/imports/:import/parts', { params: { import: dataImport.id } });
  const here = uploading?.sent ?? parts.data?.data.parts.length ?? 0;
  const take = async (file: File | null): Promise<void> => {
    setFailure(null);
    const isOther = file !== null && !isSame(dataImport, file);
    setFault(isOther ? `Select the same file as before: ${dataImport.name}` : null);
    if (file === null || isOther) return;
    try {
      await upload(dataImport, file);
    } catch (error) {
      if (error instanceof ApiError) setFailure(error);
    }
    await refresh('GET /projects/:project/imports/:import');
    await refresh('GET /projects/:project/imports/:import/parts');
  };
  return (
    <Section title="Upload" text={`Select ${dataImport.name} again to continue the interrupted upload.`}>
      <Stack gap="sm">
        <FileInput
          label="File"
          placeholder="Select the same file"
          leftSection={<FileText size={15} aria-hidden="true" />}
          onChange={(file) => void take(file)}
          error={fault}
          disabled={uploading !== null}
        />
        <Progress value={(here * 100) / dataImport.parts_total} aria-label="Upload" />
        <Muted>
          {count(here)} of {count(dataImport.parts_total)} parts uploaded.
        </Muted>
        {failure && <ErrorBox error={failure} />}
      </Stack>
    </Section>
  );
}
