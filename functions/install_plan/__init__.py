"""Steps that look after InstallPlans."""
