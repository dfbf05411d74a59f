"""All SQL of the project: tables, migrations, unit of work, and one file for each noun."""
