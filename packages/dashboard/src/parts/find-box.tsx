import { TextInput } from '@mantine/core';
import type { ReactNode } from 'react';

type Props = {
  label: string;
  placeholder: string;
  value: string;
  /** Nothing, where it was emptied: the address then says nothing of it either. */
  onFind: (text: string | undefined) => void;
};

/** Finds among rows that are all at hand, as one types. */
export function FindBox({ label, placeholder, value, onFind }: Props): ReactNode {
  return (
    <TextInput
      aria-label={label}
      placeholder={placeholder}
      value={value}
      onChange={({ currentTarget }) => onFind(currentTarget.value || undefined)}
      w={280}
      maw="100%"
    />
  );
}
