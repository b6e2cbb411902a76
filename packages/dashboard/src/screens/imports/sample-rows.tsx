import { Stack, Text } from '@mantine/core';
import { CircleCheck, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import type { ImportSample } from '@beckon/contract/dashboard';
import { Json, Mark } from '../../parts/index.ts';
import { Section } from '../../parts/section.tsx';

const SHOWN = 3;

/** The first rows as they would be taken, and what is wrong with them. */
export function SampleRows({ sample: { rows } }: { sample: ImportSample }): ReactNode {
  const broken = rows.filter(({ faults }) => faults.length > 0).length;
  return (
    <Section
      title="The first rows"
      text={
        broken === 0
          ? 'As they would be taken.'
          : `${broken} of the first ${rows.length} would be rejected; the others are taken all the same.`
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
        {rows.length === 0 && (
          <Text size="sm" c="dimmed">
            There is no row below the header.
          </Text>
        )}
      </Stack>
    </Section>
  );
}
