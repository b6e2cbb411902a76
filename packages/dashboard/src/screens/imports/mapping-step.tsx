import { Button, Checkbox, Group, Stack, TextInput } from '@mantine/core';
import { TriangleAlert } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import type { Import, ImportMapping, ImportSample } from '@beckon/contract/dashboard';
import { type ApiError, useCall, useChange } from '../../api/index.ts';
import { ErrorBox, Lines, refused } from '../../parts/index.ts';
import { Notice } from '../../parts/notice.tsx';
import { Section } from '../../parts/section.tsx';
import { ColumnTable } from './column-table.tsx';
import { SampleRows } from './sample-rows.tsx';
import { Muted } from '../../parts/muted.tsx';
import { Bullets } from '../../parts/bullets.tsx';

/** Maps columns to fields, with a preview of the first rows that the server updates at each change. */
export function MappingStep({ dataImport }: { dataImport: Import }): ReactNode {
  const [mapping, setMapping] = useState<ImportMapping>(dataImport.mapping ?? { columns: {} });
  const { sample, failure } = useSample(dataImport, mapping);
  const { save, check, isPending } = useSaveAndCheck(dataImport);
  if (failure) return <ErrorBox error={failure} title="The file cannot be read" />;
  if (!sample) return <Lines />;
  return (
    <Stack gap="lg">
      <Section
        title="Columns"
        text="Columns are mapped by their headers. Change the mapping as needed. Empty cells are ignored."
      >
        <Stack gap="md">
          {dataImport.kind === 'events' && (
            <EventChoices mapping={mapping} onChange={setMapping} sample={sample} />
          )}
          <ColumnTable
            kind={dataImport.kind === 'events' ? 'events' : 'users'}
            columns={sample.columns}
            onChange={(column, to) =>
              setMapping((was) => ({ ...was, columns: { ...was.columns, [column]: to } }))
            }
          />
          <Problems sample={sample} />
          <Group>
            <Button
              loading={isPending}
              disabled={sample.problems.length > 0}
              onClick={() => save.mutate({ params: { import: dataImport.id }, body: { mapping } })}
            >
              Check all rows
            </Button>
            <Muted>The check imports nothing.</Muted>
          </Group>
          {save.error && <ErrorBox error={save.error} />}
          {check.error && <ErrorBox error={check.error} />}
        </Stack>
      </Section>
      <SampleRows sample={sample} />
    </Stack>
  );
}

function useSaveAndCheck(dataImport: Import) {
  const check = useChange('POST /projects/:project/imports/:import/check', {
    refreshes: ['GET /projects/:project/imports/:import', 'GET /projects/:project/imports'],
    onRefused: (error) => refused(error),
  });
  const save = useChange('PUT /projects/:project/imports/:import/mapping', {
    onDone: () => check.mutate({ params: { import: dataImport.id } }),
  });
  return { save, check, isPending: save.isPending || check.isPending };
}

const AFTER_MS = 200;

/** The previous sample stays while the next one loads. */
function useSample(dataImport: Import, mapping: ImportMapping) {
  const call = useCall();
  const [sample, setSample] = useState<ImportSample | null>(null);
  const [failure, setFailure] = useState<ApiError | null>(null);
  const key = JSON.stringify(mapping);
  useEffect(() => {
    const controller = new AbortController();
    const timer = setTimeout(() => {
      const args = { params: { import: dataImport.id }, body: { mapping: JSON.parse(key) as ImportMapping } };
      call('POST /projects/:project/imports/:import/sample', args, controller.signal).then(
        ({ data }) => {
          setSample(data);
          setFailure(null);
        },
        (error: unknown) => {
          if (!controller.signal.aborted) setFailure(error as ApiError);
        },
      );
    }, AFTER_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
    // `call` is a new function at each render with the same behavior.
  }, [dataImport.id, key]);
  return { sample, failure };
}

type ChoiceProps = {
  mapping: ImportMapping;
  onChange: (mapping: ImportMapping) => void;
  sample: ImportSample;
};

function EventChoices({ mapping, onChange, sample }: ChoiceProps): ReactNode {
  const goesTo = (field: string): boolean => sample.columns.some(({ to }) => to === field);
  const hasId = goesTo('occurred_at') || goesTo('message_id');
  return (
    <>
      {!goesTo('name') && (
        <TextInput
          label="Event name"
          description="For all rows, because the file has no column with event names"
          placeholder="report_exported"
          maw={360}
          value={mapping.event_name ?? ''}
          onChange={({ currentTarget }) => onChange({ ...mapping, event_name: currentTarget.value })}
        />
      )}
      {!hasId && (
        <Checkbox
          label="Treat equal rows as one event"
          description="Without a time or an id, a second event and a duplicate row cannot be distinguished"
          checked={mapping.equal_rows_are_one ?? false}
          onChange={({ currentTarget }) =>
            onChange({ ...mapping, equal_rows_are_one: currentTarget.checked })
          }
        />
      )}
    </>
  );
}

function Problems({ sample: { problems } }: { sample: ImportSample }): ReactNode {
  if (problems.length === 0) return null;
  return (
    <Notice icon={TriangleAlert} title="Incomplete">
      <Bullets items={problems.map(({ message }) => message)} />
    </Notice>
  );
}
