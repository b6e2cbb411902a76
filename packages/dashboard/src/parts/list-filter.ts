import { useNavigate, useSearch } from '@tanstack/react-router';

type ListFilter = { filter: string | undefined; onFilter: (filter: string | undefined) => void };

/** The filter of a list in the URL, for `ListBar`. */
export function useListFilter(): ListFilter {
  const { filter } = useSearch({ strict: false });
  const navigate = useNavigate();
  return {
    filter,
    onFilter: (next) =>
      void navigate({ to: '.', search: (was) => ({ ...was, filter: next }), replace: true }),
  };
}
