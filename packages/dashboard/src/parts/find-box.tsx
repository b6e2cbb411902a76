import { TextInput } from '@mantine/core';
import type { ReactNode } from 'react';

type Props = {
  label: string;
  placeholder: string;
  value: string;
  /** Undefined if it is empty, so that the URL omits it. */
  onFind: (text: string | undefined) => void;
};

/** Searches loaded rows while the member types. */
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
