import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { type ReactNode, useState } from 'react';
import { useApiInfinite } from '../../api/index.ts';

type Props = { value: string | undefined; onChange: (user: string | undefined) => void };

const MADE_UP = '';
const SEARCH_AFTER_MS = 250;
const SHOWN = 20;

/** Selects the user of the preview: a real one, or a sample user with all values. */
export function UserPicker({ value, onChange }: Props): ReactNode {
  const [typed, setTyped] = useState('');
  const [search] = useDebouncedValue(typed.trim(), SEARCH_AFTER_MS);
  const isSearch = search !== '' && search !== value && search !== MADE_UP_LABEL;
  const users = useApiInfinite(
    'GET /projects/:project/users',
    { query: isSearch ? { filter: filterFor(search) } : {} },
    { keep: true, limit: SHOWN },
  );
  const found = users.rows.map(({ external_user_id: id, name, email }) => ({
    value: id,
    label: [id, name, email].filter(Boolean).join(' · '),
  }));
  const chosen =
    value === undefined || found.some((option) => option.value === value) ? [] : [{ value, label: value }];
  return (
    <Select
      label="Preview as"
      data={[{ value: MADE_UP, label: MADE_UP_LABEL }, ...chosen, ...found]}
      value={value ?? MADE_UP}
      onChange={(next) => onChange(next === null || next === MADE_UP ? undefined : next)}
      searchable
      onSearchChange={setTyped}
      filter={({ options }) => options}
      allowDeselect={false}
      nothingFoundMessage="No users match"
      maxDropdownHeight={320}
    />
  );
}

const MADE_UP_LABEL = 'Sample user';

/** Searches ids, names and addresses. The quotes keep characters of the filter language from having a meaning. */
function filterFor(search: string): string {
  return JSON.stringify(search);
}
