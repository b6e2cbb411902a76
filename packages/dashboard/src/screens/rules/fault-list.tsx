import { Anchor, List, Stack } from '@mantine/core';
import { CircleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { Mark } from '../../parts/index.ts';
import { type FormFault, faultSentence } from './fault-words.ts';

type Props = { faults: FormFault[]; onPick?: (fault: FormFault) => void };

/** The errors of a form, numbered. Each leads to its field. */
export function FaultList({ faults, onPick = ({ message }) => focusFault(message) }: Props): ReactNode {
  return (
    <Stack gap={4} align="start">
      <Mark icon={CircleAlert} tone="bad" label="Fix these errors" />
      <List type="ordered" size="sm" spacing={2}>
        {faults.map((fault) => (
          <List.Item key={`${fault.field} ${fault.message}`}>
            <Anchor component="button" type="button" size="sm" ta="start" onClick={() => onPick(fault)}>
              {faultSentence(fault)}
            </Anchor>
          </List.Item>
        ))}
      </List>
    </Stack>
  );
}

/** Focuses the first field with an error; with a message, the first one that shows it. */
export function focusFault(message?: string): void {
  const shown = [...document.querySelectorAll<HTMLElement>('[aria-invalid="true"]')];
  const field =
    message === undefined ? shown[0] : (shown.find((input) => describes(input, message)) ?? shown[0]);
  field?.focus();
  field?.scrollIntoView({ block: 'center' });
}

function describes(input: HTMLElement, message: string): boolean {
  const ids = input.getAttribute('aria-describedby')?.split(' ') ?? [];
  return ids.some((id) => document.getElementById(id)?.textContent?.includes(message) === true);
}
