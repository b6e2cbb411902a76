import { Button, Checkbox, Group, List, Stack, Text, TextInput } from '@mantine/core';
import { TriangleAlert } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import type { Import, ImportMapping, ImportSample } from '@beckon/contract/dashboard';
import { type ApiError, useCall, useChange } from '../../api/index.ts';
import { ErrorBox, Lines, refused } from '../../parts/index.ts';
import { Notice } from '../../parts/notice.tsx';
import { Section } from '../../parts/section.tsx';
import { ColumnTable } from './column-table.tsx';
import { SampleRows } from './sample-rows.tsx';

/** Maps columns to fields, with a preview of the first rows that the server updates at each change. */
export function MappingStep({ one }: { one: Import }): ReactNode {
  const [mapping, setMapping] = useState<ImportMapping>(one.mapping ?? { columns: {} });
  const { sample, failure } = useSample(one, mapping);
  const { save, check, isPending } = useSaveAndCheck(one);
  if (failure) return <ErrorBox error={failure} title="The file cannot be read" />;
  if (!sample) return <Lines />;
  return (
    <Stack gap="lg">
      <Section
        title="Columns"
        text="Columns are mapped by their headers. Change the mapping as needed. Empty cells are ignored."
      >
        <Stack gap="md">
          {one.kind === 'events' && <EventChoices mapping={mapping} onChange={setMapping} sample={sample} />}
          <ColumnTable
            kind={one.kind === 'events' ? 'events' : 'users'}
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
              onClick={() => save.mutate({ params: { import: one.id }, body: { mapping } })}
            >
              Check all rows
            </Button>
            <Text size="sm" c="dimmed">
              The check imports nothing.
            </Text>
          </Group>
          {save.error && <ErrorBox error={save.error} />}
          {check.error && <ErrorBox error={check.error} />}
        </Stack>
      </Section>
      <SampleRows sample={sample} />
    </Stack>
  );
}

function useSaveAndCheck(one: Import) {
  const check = useChange('POST /projects/:project/imports/:import/check', {
    refreshes: ['GET /projects/:project/imports/:import', 'GET /projects/:project/imports'],
    onRefused: (error) => refused(error),
  });
  const save = useChange('PUT /projects/:project/imports/:import/mapping', {
    onDone: () => check.mutate({ params: { import: one.id } }),
  });
  return { save, check, isPending: save.isPending || check.isPending };
}

const AFTER_MS = 200;

/** The previous sample stays while the next one loads. */
function useSample(one: Import, mapping: ImportMapping) {
  const call = useCall();
  const [sample, setSample] = useState<ImportSample | null>(null);
  const [failure, setFailure] = useState<ApiError | null>(null);
  const asked = JSON.stringify(mapping);
  useEffect(() => {
    const controller = new AbortController();
    const timer = setTimeout(() => {
      const ask = { params: { import: one.id }, body: { mapping: JSON.parse(asked) as ImportMapping } };
      call('POST /projects/:project/imports/:import/sample', ask, controller.signal).then(
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
  }, [one.id, asked]);
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
      <List size="sm">
        {problems.map(({ field, message }) => (
          <List.Item key={`${field} ${message}`}>{message}</List.Item>
        ))}
      </List>
    </Notice>
  );
}
