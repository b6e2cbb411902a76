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
      {of.map((condition, index) => (
        <li key={index}>
          <Mark
            icon={condition.holds ? Check : X}
            tone={condition.holds ? 'good' : 'bad'}
            label={condition.holds ? 'yes' : 'no'}
          />{' '}
          <Sentence text={condition.sentence} />
          {condition.until !== null && (
            <Text span size="xs" c="dimmed">
              {' '}
              (until <When at={condition.until} />)
            </Text>
          )}
          {condition.conditions && <Conditions of={condition.conditions} />}
        </li>
      ))}
    </ul>
  );
}

const LIST = { listStyle: 'none', margin: 0, paddingInlineStart: 16, overflowWrap: 'anywhere' } as const;
