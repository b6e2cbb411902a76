import { Stack, Text } from '@mantine/core';
import { CircleCheck, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import type { ImportSample } from '@beckon/contract/dashboard';
import { Json, Mark } from '../../parts/index.ts';
import { Section } from '../../parts/section.tsx';
import { Muted } from '../../parts/muted.tsx';

const SHOWN = 3;

/** A preview of the first rows, with their errors. */
export function SampleRows({ sample: { rows } }: { sample: ImportSample }): ReactNode {
  const broken = rows.filter(({ faults }) => faults.length > 0).length;
  return (
    <Section
      title="Preview"
      text={
        broken === 0
          ? 'The first rows as they would be imported.'
          : `${broken} of the first ${rows.length} would be rejected. The others can be imported.`
      }
    >
      <Stack gap="sm">
        {rows.slice(0, SHOWN).map(({ row, record, faults }) => (
          <Stack key={row} gap={4}>
            <span>
              {faults.length === 0 ? (
                <Mark icon={CircleCheck} tone="good" label={`Row ${row}`} />
              ) : (
                <Mark icon={TriangleAlert} tone="warn" label={`Row ${row}`} />
              )}
            </span>
            {faults.map(({ message }) => (
              <Text key={message} size="sm" style={{ overflowWrap: 'anywhere' }}>
                {message}
              </Text>
            ))}
            {record !== null && <Json value={record} />}
          </Stack>
        ))}
        {rows.length === 0 && <Muted>The file has no rows below the header.</Muted>}
      </Stack>
    </Section>
  );
}
