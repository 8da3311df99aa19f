{# SPDX-License-Identifier: MIT OR Apache-2.0 -#}
'use strict';
for (const table of document.querySelectorAll('table[data-table]')) {
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  const value = (row, column) => {
    const cell = row.cells[column];
    return Number(cell.dataset.v ?? (cell.classList.contains('percent') ? cell.textContent : NaN));
  };
  const text = (row, column) => row.cells[column].textContent;
  heads.forEach((head, column) => {
    if (head.classList.contains('bar') || head.classList.contains('chart')) return;
    const button = document.createElement('button');
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener('click', () => {
      const words = head.classList.contains('text');
      const first = words ? 'ascending' : 'descending';
      const other = words ? 'descending' : 'ascending';
      const order = head.getAttribute('aria-sort') === first ? other : first;
      const sign = order === 'ascending' ? 1 : -1;
      const rows = [...body.rows].sort((a, b) => sign * (words ?
        text(a, column).localeCompare(text(b, column)) : value(a, column) - value(b, column)));
      for (const other of heads) other.removeAttribute('aria-sort');
      head.setAttribute('aria-sort', order);
      body.append(...rows);
    });
  });
}
