import { Text } from '@mantine/core';
import { Check, X } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Explained } from '@beckon/contract/dashboard';
import { Mark } from './mark.tsx';
import { Sentence } from './sentence.tsx';
import { When } from './when.tsx';

/** Conditions with the result of each part. */
export function Conditions({ of }: { of: Explained[] }): ReactNode {
  return (
    <ul style={LIST}>
      {of.map((one, index) => (
        <li key={index}>
          <Mark
            icon={one.holds ? Check : X}
            tone={one.holds ? 'good' : 'bad'}
            label={one.holds ? 'yes' : 'no'}
          />{' '}
          <Sentence text={one.sentence} />
          {one.until !== null && (
            <Text span size="xs" c="dimmed">
              {' '}
              (until <When at={one.until} />)
            </Text>
          )}
          {one.conditions && <Conditions of={one.conditions} />}
        </li>
      ))}
    </ul>
  );
}

const LIST = { listStyle: 'none', margin: 0, paddingInlineStart: 16, overflowWrap: 'anywhere' } as const;
