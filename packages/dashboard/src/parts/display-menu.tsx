import { Button, Menu } from '@mantine/core';
import { Check, SlidersHorizontal } from 'lucide-react';
import type { ReactNode } from 'react';
import type { LookState } from './list-look.ts';
import type { Sort } from './table-head.tsx';

type Choice = { id: string; title: string; sort?: true | 'up' };
export type DisplayProps = LookState & {
  columns: readonly Choice[];
  sort?: Sort | undefined;
  onSort?: ((sort: Sort) => void) | undefined;
};

/** The columns, the density and the order of a list. The first column stays, because it opens the row. */
export function DisplayMenu(props: DisplayProps): ReactNode {
  const { look, setLook, columns, sort, onSort } = props;
  const toggle = (id: string): void => {
    const hidden = look.hidden.filter((other) => other !== id);
    setLook({ ...look, hidden: hidden.length === look.hidden.length ? [...hidden, id] : hidden });
  };
  return (
    <Menu position="bottom-end" closeOnItemClick={false} width={220}>
      <Menu.Target>
        <Button variant="default" leftSection={<SlidersHorizontal size={14} aria-hidden="true" />}>
          Display
        </Button>
      </Menu.Target>
      <Menu.Dropdown mah="min(70vh, 480px)" style={{ overflowY: 'auto' }}>
        <Menu.Label>Columns</Menu.Label>
        {columns.slice(1).map(({ id, title }) => (
          <Item key={id} isChecked={!look.hidden.includes(id)} onClick={() => toggle(id)}>
            {title}
          </Item>
        ))}
        <Menu.Divider />
        <Item isChecked={look.isCompact} onClick={() => setLook({ ...look, isCompact: !look.isCompact })}>
          Compact rows
        </Item>
        {sort && onSort && <Order columns={columns} sort={sort} onSort={onSort} />}
      </Menu.Dropdown>
    </Menu>
  );
}

type OrderProps = { columns: readonly Choice[]; sort: Sort; onSort: (sort: Sort) => void };

/** On a narrow screen the table has no heads, so this is the only way to sort. */
function Order({ columns, sort, onSort }: OrderProps): ReactNode {
  const by = columns.filter((column) => column.sort);
  return (
    <>
      <Menu.Divider />
      <Menu.Label>Sort by</Menu.Label>
      {by.map(({ id, title }) => (
        <Item
          key={id}
          role="menuitemradio"
          isChecked={id === sort.by}
          onClick={() => onSort({ ...sort, by: id })}
        >
          {title}
        </Item>
      ))}
      <Item isChecked={sort.down} onClick={() => onSort({ ...sort, down: !sort.down })}>
        Descending
      </Item>
    </>
  );
}

type ItemProps = {
  role?: 'menuitemcheckbox' | 'menuitemradio';
  isChecked: boolean;
  onClick: () => void;
  children: string;
};

/** Mantine's own checkbox and radio items would add 2 kB to every screen. */
function Item({ role = 'menuitemcheckbox', isChecked, onClick, children }: ItemProps): ReactNode {
  return (
    <Menu.Item
      role={role}
      aria-checked={isChecked}
      leftSection={<Check size={14} aria-hidden="true" visibility={isChecked ? 'visible' : 'hidden'} />}
      onClick={onClick}
    >
      {children}
    </Menu.Item>
  );
}
